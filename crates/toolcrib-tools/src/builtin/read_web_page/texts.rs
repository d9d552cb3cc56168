//! What people read of `read_web_page`. The English texts of its settings stand in the definition.

use toolcrib_runtime::tool::{Display, FieldTexts, language};

pub(super) fn display(locale: &str) -> Display {
    match language(locale).as_str() {
        "de" => {
            Display::new("📄", "Webseite lesen", "Liest eine Webseite und gibt ihren Inhalt an das Modell.")
        }
        _ => Display::new("📄", "Read web page", "Reads a web page and hands its content to the model."),
    }
}

pub(super) fn setting(field: &str, locale: &str) -> Option<FieldTexts> {
    match (language(locale).as_str(), field) {
        ("de", "timeoutSeconds") => Some(FieldTexts::new(
            "Zeit je Seite (Sekunden)",
            "Wie lange das Laden einer Seite dauern darf, Weiterleitungen eingeschlossen.",
        )),
        ("de", "maxContentCharacters") => Some(FieldTexts::new(
            "Zeichen je Aufruf",
            "Wie viele Zeichen einer Seite ein Aufruf höchstens liefert; das Modell liest mit dem nächsten Teil \
             weiter.",
        )),
        ("de", "allowedPrivateHosts") => Some(FieldTexts::new(
            "Private Hosts, die gelesen werden dürfen",
            "Hosts des eigenen Netzes, getrennt durch Kommas, Semikolons oder Zeilenenden: wiki.intern, \
             *.example.com, 10.0.0.5:8443, http://printer. Sie werden nur für Anbieter der Vertrauensstufe HIGH oder \
             für vertraute Anbieter gelesen, und die Unterhaltung bleibt danach bei solchen Anbietern. Leer: nur \
             öffentliche Seiten.",
        )),
        ("de", "addressPolicy") => Some(FieldTexts::new(
            "Welche URLs gelesen werden dürfen",
            "from_conversation: nur URLs, die in den Nachrichten des Benutzers stehen oder die eine Suche oder eine \
             frühere Seite der Unterhaltung geliefert hat; so kann keine Seite das Modell dazu bringen, sein Wissen an \
             eine erfundene URL zu senden. any: jede URL, die das Modell schreibt.",
        )),
        _ => None,
    }
}
