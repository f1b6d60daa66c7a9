//! How files are fetched, as the environment says.

use hatir_rank::model::{Network, Proxy};

/// The network for a site: through the proxy that the usual variables name for its scheme, if they do.
pub(super) fn settings(site: &str) -> Network {
    let mut network = Network::default();
    // A name that is no Unicode is no address.
    network.proxy = proxy(site, |name| std::env::var_os(name)?.into_string().ok());
    network
}

/// `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`, each in lower case, too, which goes first; of `HTTP_PROXY`
/// only the lower case counts, as with curl, since a web server sets the other from a header of a request.
fn proxy(site: &str, variable: impl Fn(&str) -> Option<String>) -> Option<Proxy> {
    let first = |names: &[&str]| names.iter().find_map(|name| variable(name).filter(|value| !value.is_empty()));
    let url = match site.starts_with("https://") {
        true => first(&["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]),
        false => first(&["http_proxy", "all_proxy", "ALL_PROXY"]),
    }?;
    let except = first(&["no_proxy", "NO_PROXY"]).unwrap_or_default();
    let except = except.split(',').map(str::trim).filter(|host| !host.is_empty()).map(str::to_owned);
    // What is on this machine is not behind a proxy.
    let local = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
    Some(Proxy { url, except: except.chain(local).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variables_of_the_scheme_count() {
        let variables = [
            ("https_proxy", ""),
            ("HTTPS_PROXY", "http://secure:1"),
            ("HTTP_PROXY", "http://odd:1"),
            ("ALL_PROXY", "http://all:1"),
            ("NO_PROXY", "intern.example, .corp"),
        ];
        let get = |site: &str, skip: &str| {
            proxy(site, |name| {
                let found = variables.iter().find(|(known, _)| *known == name && name != skip);
                found.map(|(_, value)| (*value).to_owned())
            })
        };
        let secure = get("https://example.org", "").unwrap();
        assert_eq!(secure.url, "http://secure:1");
        assert_eq!(secure.except, ["intern.example", ".corp", "localhost", "127.0.0.1", "::1"]);
        assert_eq!(get("http://example.org", "").unwrap().url, "http://all:1");
        assert_eq!(get("http://example.org", "ALL_PROXY"), None);
    }
}
