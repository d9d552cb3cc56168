//! What the words in an element's class and id say about its purpose.
//!
//! Invariant: only whole words count, so that `shareholder` is no share box and `header` no `head`.

use super::dom::{Dom, NodeId};

/// A set of purposes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Purposes(u32);

impl Purposes {
    pub(super) const NONE: Self = Self(0);
    pub(super) const CONSENT: Self = Self(1);
    pub(super) const NAVIGATION: Self = Self(1 << 1);
    pub(super) const SIDEBAR: Self = Self(1 << 2);
    pub(super) const FOOTER: Self = Self(1 << 3);
    pub(super) const SHARE: Self = Self(1 << 4);
    pub(super) const RELATED: Self = Self(1 << 5);
    pub(super) const PROMOTION: Self = Self(1 << 6);
    pub(super) const ADVERT: Self = Self(1 << 7);
    pub(super) const COMMENTS: Self = Self(1 << 8);
    pub(super) const TOOLS: Self = Self(1 << 9);
    pub(super) const PAGER: Self = Self(1 << 10);
    pub(super) const CONTENTS_LIST: Self = Self(1 << 11);
    pub(super) const OVERLAY: Self = Self(1 << 12);
    pub(super) const CONTENT: Self = Self(1 << 13);
    pub(super) const TAB: Self = Self(1 << 14);
    pub(super) const HIDDEN: Self = Self(1 << 15);
    pub(super) const SHOWN: Self = Self(1 << 16);
    pub(super) const NOTE: Self = Self(1 << 17);
    pub(super) const HEADER: Self = Self(1 << 18);

    pub(super) const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Everything that stands around content and may hold much text.
    pub(super) const AROUND: Self = Self(
        Self::NAVIGATION.0
            | Self::FOOTER.0
            | Self::SHARE.0
            | Self::PROMOTION.0
            | Self::ADVERT.0
            | Self::PAGER.0
            | Self::CONTENTS_LIST.0
            | Self::OVERLAY.0,
    );
    /// What usually stands around content, and sometimes is it.
    pub(super) const DOUBTFUL: Self =
        Self(Self::SIDEBAR.0 | Self::RELATED.0 | Self::COMMENTS.0 | Self::TOOLS.0);
}

/// What one word, or two neighboring words without their separator, stand for.
fn purpose(word: &str) -> Purposes {
    match word {
        "cookie" | "cookies" | "cookiebar" | "cookiebanner" | "cookieconsent" | "cookienotice"
        | "consent" | "gdpr" | "ccpa" | "onetrust" | "cookiebot" | "usercentrics" | "didomi" | "trustarc"
        | "truste" | "ccwindow" | "ccbanner" | "privacybanner" | "privacynotice" | "cookiepolicy"
        | "cmpbox" => Purposes::CONSENT,
        "nav" | "navbar" | "navigation" | "menu" | "submenu" | "megamenu" | "menubar" | "breadcrumb"
        | "breadcrumbs" | "sitenav" | "navlinks" | "skiplink" | "skiplinks" | "skipto" | "sidenav"
        | "navlist" | "subnav" | "topnav" | "mainnav" | "navbox" | "langswitcher" | "languageswitcher" => {
            Purposes::NAVIGATION
        }
        "sidebar" | "sidebars" | "rail" | "rightrail" | "leftrail" | "rightcol" | "leftcol" | "secondary"
        | "sidecolumn" | "aside" => Purposes::SIDEBAR,
        "footer" | "colophon" | "sitefooter" | "pagefooter" | "copyright" | "siteinfo" | "legal"
        | "disclaimer" => Purposes::FOOTER,
        "share" | "sharing" | "sharebar" | "sharebox" | "sharebuttons" | "social" | "socials"
        | "socialmedia" | "addthis" | "sharethis" | "addtoany" | "sharedaddy" | "followus" | "sharetools" => {
            Purposes::SHARE
        }
        "related" | "recommended" | "recommendation" | "recommendations" | "readnext" | "upnext"
        | "alsoread" | "alsoviewed" | "alsolike" | "youmay" | "mayalso" | "morefrom" | "morestories"
        | "morearticles" | "morenews" | "trending" | "mostread" | "mostpopular" | "outbrain" | "taboola"
        | "upsell" | "upsells" | "crosssell" | "crosssells" | "similar" | "relatedposts"
        | "relatedarticles" | "zergnet" | "recirc" | "recirculation" | "jetpackrelated" | "popularposts"
        | "recentposts" | "latestnews" => Purposes::RELATED,
        "newsletter" | "newsletters" | "subscribe" | "subscription" | "subscriptions" | "signup"
        | "promo" | "promos" | "promotion" | "mailchimp" | "paywall" | "regwall" | "mailinglist"
        | "optin" | "donate" | "donation" | "cta" | "calltoaction" => Purposes::PROMOTION,
        "ad" | "ads" | "advert" | "adverts" | "advertisement" | "advertisements" | "advertising"
        | "sponsor" | "sponsored" | "sponsors" | "adsense" | "adslot" | "adunit" | "adsbygoogle" | "dfp"
        | "adwrapper" | "adcontainer" | "admarker" | "advertorial" => Purposes::ADVERT,
        "comments" | "commentlist" | "commentslist" | "disqus" | "livefyre" | "respond" | "commentform"
        | "replyform" | "commentarea" | "commentssection" | "facebookcomments" => Purposes::COMMENTS,
        "toolbar" | "print" | "printfriendly" | "articletools" | "posttools" | "rating" | "ratings"
        | "widget" | "widgets" | "tagcloud" | "taglist" | "posttags" | "entrytags" | "articletags"
        | "postmeta" | "entryutility" | "authorbox" | "authorbio" | "aboutauthor" | "abouttheauthor" => {
            Purposes::TOOLS
        }
        "pager" | "pagination" | "paginator" | "prevnext" | "nextprev" | "postnavigation" | "postnav"
        | "pagenav" | "paginationnav" | "pagenavi" | "footernav" => Purposes::PAGER,
        "toc" | "tocs" | "tableofcontents" | "tableofcontent" | "onthispage" | "pagetoc" | "localtoc"
        | "inpagenav" | "articletoc" | "doctoc" => Purposes::CONTENTS_LIST,
        "modal" | "modals" | "popup" | "popups" | "lightbox" | "overlay" | "tooltip" | "dropdown"
        | "login" | "signin" | "interstitial" | "offcanvas" | "flyout" | "toast" | "snackbar" => {
            Purposes::OVERLAY
        }
        "article" | "content" | "contents" | "entry" | "post" | "story" | "main" | "body" | "text"
        | "markdown" | "prose" | "blog" | "documentation" | "thread" | "message" | "messages"
        | "question" | "answer" | "product" | "description" => Purposes::CONTENT,
        "tab" | "tabs" | "tabpanel" | "tabpane" | "tabcontent" | "accordion" | "accordions" | "collapse"
        | "collapsible" | "panel" | "faq" | "expandable" | "tabbed" => Purposes::TAB,
        "hidden" | "hide" | "invisible" | "dnone" | "displaynone" | "isinvisible" | "sronly"
        | "visuallyhidden" | "screenreader" | "offscreen" | "nodisplay" | "noprint" => match word {
            "noprint" => Purposes::NONE,
            _ => Purposes::HIDDEN,
        },
        "block" | "flex" | "grid" | "inline" | "visible" | "show" | "shown" | "focusable" => Purposes::SHOWN,
        "note" | "tip" | "warning" | "caution" | "important" | "admonition" | "callout" | "pullquote"
        | "infobox" | "footnote" | "footnotes" | "marginnote" | "sidenote" | "hint" | "danger" | "alert" => {
            Purposes::NOTE
        }
        "header" | "masthead" | "siteheader" | "topbar" | "pageheader" => Purposes::HEADER,
        _ => Purposes::NONE,
    }
}

/// Calls `each` with the lower-case words of a class or id value, split at punctuation and inner capitals.
pub(super) fn for_each_word(value: &str, mut each: impl FnMut(&str)) {
    let mut word = String::new();
    let mut last_was_lower = false;
    for character in value.chars().chain(std::iter::once(' ')) {
        let boundary = !character.is_alphanumeric() || (character.is_uppercase() && last_was_lower);
        if boundary && !word.is_empty() {
            each(&word);
            word.clear();
        }
        if character.is_alphanumeric() {
            word.extend(character.to_lowercase());
        }
        last_was_lower = character.is_lowercase();
    }
}

/// Everything that a class or id value says.
pub(super) fn purposes_of(value: &str) -> Purposes {
    let mut found = Purposes::NONE;
    let mut previous = String::new();
    let mut before_previous = String::new();
    for_each_word(value, |word| {
        // `tag-cookies` and `category-newsletter` name a subject, not a purpose.
        let subject = matches!(&*previous, "tag" | "category" | "no" | "has" | "with" | "js");
        if !subject {
            found = found.union(purpose(word));
        }
        if !previous.is_empty() && word.len() + previous.len() < 32 {
            let mut pair = previous.clone();
            pair.push_str(word);
            found = found.union(purpose(&pair));
            if !before_previous.is_empty() {
                found = found.union(purpose(&format!("{before_previous}{pair}")));
            }
        }
        std::mem::swap(&mut before_previous, &mut previous);
        previous.clear();
        previous.push_str(word);
    });
    found
}

/// Everything that the class and id of an element say.
pub(super) fn purposes(dom: &Dom, id: NodeId) -> Purposes {
    let Some(element) = dom.element(id) else { return Purposes::NONE };
    let mut found = Purposes::NONE;
    for attribute in &element.attributes {
        if matches!(&*attribute.name.local, "class" | "id" | "data-component" | "data-testid") {
            // A utility-class framework can put kilobytes here; purposes stand near the front.
            let value = &*attribute.value;
            let end = value.char_indices().nth(400).map_or(value.len(), |(index, _)| index);
            found = found.union(purposes_of(&value[..end]));
        }
    }
    found
}

/// Whether one of the element's classes, taken whole and lower-case, satisfies `test`.
pub(super) fn any_class(dom: &Dom, id: NodeId, test: impl Fn(&str) -> bool) -> bool {
    dom.attribute(id, "class")
        .is_some_and(|value| value.split_ascii_whitespace().any(|class| test(&class.to_ascii_lowercase())))
}

#[cfg(test)]
mod tests;
