//! Reads a base URL in the forms in which people write it.
//!
//! The result is the address under which `chat/completions` and `models` lie.

use url::Url;

/// Endpoints that people copy together with the base.
const ENDPOINTS: [&str; 4] = ["/chat/completions", "/completions", "/responses", "/models"];

/// What is wrong with a base URL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BaseUrlError {
    /// It cannot be parsed.
    #[error("`{0}` is not a URL: write it like `http://127.0.0.1:8080/v1`")]
    Invalid(String),
    /// It holds a user name or password.
    #[error("the URL holds a user name or password: configure a key instead")]
    Credentials,
}

/// The base of the API: `http` where no scheme is named, `/v1` where the path names no version, and nothing of an
/// endpoint, query or trailing slash.
pub fn api_base(text: &str) -> Result<Url, BaseUrlError> {
    let text = text.trim();
    let with_scheme = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    let mut url = Url::parse(&with_scheme).map_err(|_| BaseUrlError::Invalid(without_credentials(text)))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(BaseUrlError::Credentials);
    }
    if !url.has_host() || !matches!(url.scheme(), "http" | "https") {
        return Err(BaseUrlError::Invalid(without_credentials(text)));
    }
    url.set_query(None);
    url.set_fragment(None);
    let path = url.path().trim_end_matches('/').to_owned();
    let endpoint = ENDPOINTS.iter().find_map(|endpoint| path.strip_suffix(endpoint));
    let path = match endpoint {
        Some(before) => before.to_owned(),
        None if path.split('/').any(is_version) => path,
        None => format!("{path}/v1"),
    };
    url.set_path(&path);
    Ok(url)
}

fn is_version(segment: &str) -> bool {
    segment.strip_prefix('v').is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
}

fn without_credentials(text: &str) -> String {
    text.rsplit_once('@').map_or(text, |(_, rest)| rest).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bases_are_read_in_every_usual_form() {
        let check =
            |text: &str, expected: &str| assert_eq!(api_base(text).unwrap().as_str(), expected, "{text}");
        check("https://api.openai.com", "https://api.openai.com/v1");
        check("https://api.openai.com/v1", "https://api.openai.com/v1");
        check(" https://api.openai.com/v1/ ", "https://api.openai.com/v1");
        check("https://api.openai.com/v1/chat/completions", "https://api.openai.com/v1");
        check("https://host.example/chat/completions", "https://host.example/");
        check("https://openrouter.ai/api", "https://openrouter.ai/api/v1");
        check("https://api.groq.com/openai/v1", "https://api.groq.com/openai/v1");
        check("https://g.example/v1beta/openai/", "https://g.example/v1beta/openai");
        check("127.0.0.1:11434", "http://127.0.0.1:11434/v1");
        check("localhost:8080/v1/", "http://localhost:8080/v1");
        check("http://[::1]:8080?x=1#y", "http://[::1]:8080/v1");
    }

    #[test]
    fn bases_that_cannot_be_used_are_refused_without_their_credentials() {
        assert_eq!(api_base("https://user:secret@host.example/v1"), Err(BaseUrlError::Credentials));
        for text in ["", "ftp://host.example", "https://", "http://user:secret@host:port"] {
            let error = api_base(text).unwrap_err().to_string();
            assert!(error.contains("is not a URL") && !error.contains("secret"), "{error}");
        }
    }
}
