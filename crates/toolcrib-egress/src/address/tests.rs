use super::*;

/// Chapter "Addresses" of the egress specification: how many IPv4 addresses stay open.
const ALLOWED_IPV4: u64 = 3_702_257_663;

#[test]
fn the_table_leaves_exactly_the_specified_number_of_ipv4_addresses() {
    let mut ranges: Vec<(u64, u64)> = REFUSED_V4
        .iter()
        .map(|&(network, length, _, _)| {
            let start = u64::from(network.to_bits());
            (start, start + (1_u64 << (32 - length)))
        })
        .collect();
    ranges.sort_unstable();
    let mut refused = 0;
    let mut covered_to = 0;
    for (start, end) in ranges {
        refused += end.saturating_sub(start.max(covered_to));
        covered_to = covered_to.max(end);
    }
    assert_eq!((1_u64 << 32) - refused, ALLOWED_IPV4);
}

#[test]
fn the_edges_of_every_ipv4_row_are_decided_as_the_table_says() {
    for &(network, length, name, _) in REFUSED_V4 {
        assert_eq!(network.to_bits().trailing_zeros().max(32 - length), network.to_bits().trailing_zeros());
        let first = network.to_bits();
        let last = u32::try_from(u64::from(first) + (1_u64 << (32 - length)) - 1).unwrap();
        for bits in [first, last] {
            let address = Ipv4Addr::from_bits(bits);
            assert_ne!(kind_of(address.into()), AddressKind::Public, "{address} is {name}");
        }
    }
}

#[test]
fn every_row_of_the_address_cases_is_decided_as_written() {
    let mut rows = 0;
    for line in include_str!("../../tests/cases/addresses.tsv").lines() {
        if line.starts_with('#') || line.is_empty() {
            continue;
        }
        let mut columns = line.split('\t');
        let (address, expected) = (columns.next().unwrap(), columns.next().unwrap());
        let allowed = kind_of(address.parse().unwrap()) == AddressKind::Public;
        assert_eq!(allowed, expected == "allow", "{line}");
        rows += 1;
    }
    assert!(rows > 200, "only {rows} rows");
}

#[test]
fn only_rfc_1918_and_unique_local_addresses_count_as_private() {
    for private in ["10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.0.1", "fd12:3456::1", "fc00::1"] {
        assert_eq!(kind_of(private.parse().unwrap()), AddressKind::Private, "{private}");
    }
    for never in [
        "127.0.0.1",
        "169.254.169.254",
        "0.0.0.0",
        "224.0.0.1",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "::",
        "::1",
        "fe80::1",
        "fec0::1",
        "ff02::1",
        "fd00:ec2::254",
        "fd20:ce::254",
        "fd12::5efe:a00:1",
        "::ffff:10.0.0.1",
        "64:ff9b::a00:1",
    ] {
        assert!(matches!(kind_of(never.parse().unwrap()), AddressKind::Forbidden(_)), "{never}");
    }
}
