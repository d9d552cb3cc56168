//! The element names that the extraction tells apart.
//!
//! Invariant: what is not listed is `Tag::Other`, which behaves like `span`.

macro_rules! tags {
    ($($variant:ident $name:literal,)*) => {
        /// An element name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(in crate::extract) enum Tag {
            /// Not an element.
            None,
            /// An element that needs no care.
            Other,
            $($variant,)*
        }

        impl Tag {
            /// The tag of a lower-case element name.
            pub(in crate::extract) fn of(name: &str) -> Self {
                match name {
                    $($name => Self::$variant,)*
                    _ => Self::Other,
                }
            }
        }
    };
}

tags! {
    A "a", Abbr "abbr", Address "address", Annotation "annotation", Applet "applet", Area "area",
    Article "article", Aside "aside", Audio "audio", B "b", Base "base", Blockquote "blockquote", Body "body",
    Br "br", Button "button", Canvas "canvas", Caption "caption", Center "center", Cite "cite", Code "code",
    Col "col", Colgroup "colgroup", Datalist "datalist", Dd "dd", Del "del", Details "details", Dialog "dialog",
    Dir "dir", Div "div", Dl "dl", Dt "dt", Em "em", Embed "embed", Fieldset "fieldset", Figcaption "figcaption",
    Figure "figure", Font "font", Footer "footer", Form "form", Frame "frame", Frameset "frameset", H1 "h1",
    H2 "h2", H3 "h3", H4 "h4", H5 "h5", H6 "h6", Head "head", Header "header", Hgroup "hgroup", Hr "hr",
    Html "html", I "i", Iframe "iframe", Img "img", Input "input", Ins "ins", Kbd "kbd", Label "label",
    Legend "legend", Li "li", Link "link", Main "main", Map "map", Mark "mark", Math "math", Menu "menu",
    Meta "meta", Meter "meter", MjxContainer "mjx-container", Mfrac "mfrac", Mi "mi", Mn "mn", Mo "mo",
    Mrow "mrow", Msqrt "msqrt", Msub "msub", Msubsup "msubsup", Msup "msup", Mtext "mtext", Nav "nav",
    Noembed "noembed", Noframes "noframes", Noscript "noscript", Object "object", Ol "ol", Optgroup "optgroup",
    Option "option", Output "output", P "p", Picture "picture", Pre "pre", Progress "progress", Q "q", Rp "rp",
    Rt "rt", S "s", Samp "samp", Script "script", Search "search", Section "section", Select "select",
    Semantics "semantics", Slot "slot", Small "small", Source "source", Span "span", Strike "strike",
    Strong "strong", Style "style", Sub "sub", Summary "summary", Sup "sup", Svg "svg", Table "table",
    Tbody "tbody", Td "td", Template "template", Textarea "textarea", Tfoot "tfoot", Th "th", Thead "thead",
    Time "time", Title "title", Tr "tr", Tt "tt", U "u", Ul "ul", Var "var", Video "video", Wbr "wbr",
    Xmp "xmp", Listing "listing", Plaintext "plaintext",
}

impl Tag {
    /// 1 to 6 for headings.
    pub(in crate::extract) fn heading_level(self) -> Option<u8> {
        Some(match self {
            Self::H1 => 1,
            Self::H2 => 2,
            Self::H3 => 3,
            Self::H4 => 4,
            Self::H5 => 5,
            Self::H6 => 6,
            _ => return None,
        })
    }

    /// Whether a browser starts a new line for it.
    pub(in crate::extract) fn is_block(self) -> bool {
        matches!(
            self,
            Self::Address
                | Self::Article
                | Self::Aside
                | Self::Blockquote
                | Self::Body
                | Self::Caption
                | Self::Center
                | Self::Dd
                | Self::Details
                | Self::Dialog
                | Self::Dir
                | Self::Div
                | Self::Dl
                | Self::Dt
                | Self::Fieldset
                | Self::Figcaption
                | Self::Figure
                | Self::Footer
                | Self::Form
                | Self::Frameset
                | Self::H1
                | Self::H2
                | Self::H3
                | Self::H4
                | Self::H5
                | Self::H6
                | Self::Header
                | Self::Hgroup
                | Self::Hr
                | Self::Html
                | Self::Legend
                | Self::Li
                | Self::Listing
                | Self::Main
                | Self::Menu
                | Self::Nav
                | Self::Ol
                | Self::P
                | Self::Plaintext
                | Self::Pre
                | Self::Search
                | Self::Section
                | Self::Summary
                | Self::Table
                | Self::Tbody
                | Self::Td
                | Self::Tfoot
                | Self::Th
                | Self::Thead
                | Self::Tr
                | Self::Ul
                | Self::Xmp
        )
    }

    /// Whether it never holds children, so that dropping or keeping it cannot change the depth.
    pub(in crate::extract) fn is_void_or_raw(self) -> bool {
        matches!(
            self,
            Self::Area
                | Self::Base
                | Self::Br
                | Self::Col
                | Self::Embed
                | Self::Frame
                | Self::Hr
                | Self::Iframe
                | Self::Img
                | Self::Input
                | Self::Link
                | Self::Meta
                | Self::Noembed
                | Self::Noframes
                | Self::Plaintext
                | Self::Script
                | Self::Source
                | Self::Style
                | Self::Textarea
                | Self::Title
                | Self::Wbr
                | Self::Xmp
        )
    }
}
