//! Repository ids: one name for all spellings of a remote (adapters.md section 1).
//!
//! Pure functions on text. Whatever comes in, something safe comes out.

use sha2::{Digest, Sha256};

/// Longest slug in bytes: a file name of this length and `.toml` fits every file system in use.
const MAX_SLUG: usize = 200;

/// The id of a remote's URL: lower case, without scheme, user, port or `.git`, segments joined by
/// one `/`. `None` where nothing is left of it.
///
/// An id is its own id. Local paths lose their leading slash and the colon of a drive.
pub fn remote_id(url: &str) -> Option<String> {
    let mut id = normalise_once(url);
    // Odd input can hide one form in another (`file:///git@host:x`). Every round that changes
    // something shortens the text or lowers its case, so few are needed; the bound is for safety.
    for _ in 0..32 {
        let next = normalise_once(&id);
        if next == id {
            break;
        }
        id = next;
    }
    (!id.is_empty()).then_some(id)
}

/// The id of a work tree without a remote: `local/<dir>-<8 hex of SHA-256 of the root path>`.
/// `root` is the path's bytes (UTF-8 outside Unix).
pub fn local_id(dir: &str, root: &[u8]) -> String {
    let dir = if dir.chars().all(|c| matches!(c, '/' | '\\')) {
        "root"
    } else {
        dir
    };
    format!("local/{dir}-{}", short_hash(root))
}

/// The id as a file name: `/` becomes `-`, and so does every character that some file system
/// refuses. A name that is too long is cut and ends in a hash of the whole.
pub fn slug(id: &str) -> String {
    let unsafe_char = |c: char| {
        c.is_control() || matches!(c, '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|')
    };
    let mut slug: String = id
        .chars()
        .map(|c| if unsafe_char(c) { '-' } else { c })
        .collect();
    if slug.starts_with('.') {
        slug.replace_range(..1, "-");
    }
    if slug.ends_with(['.', ' ']) {
        slug.pop();
        slug.push('-');
    }
    if slug.len() > MAX_SLUG {
        let hash = short_hash(id.as_bytes());
        let cut = slug.floor_char_boundary(MAX_SLUG - hash.len() - 1);
        slug.truncate(cut);
        slug.push('-');
        slug.push_str(&hash);
    }
    slug
}

/// The last segment of an id.
pub fn id_name(id: &str) -> &str {
    id.rsplit('/').next().unwrap_or(id)
}

/// A remote's URL without user and password, else as written.
pub fn without_user(url: &str) -> String {
    let url = url.trim();
    if let Some((scheme, rest)) = split_scheme(url) {
        let (authority, path) = split_authority(rest);
        let host = authority.rsplit('@').next().unwrap_or(authority);
        return format!("{scheme}://{host}{path}");
    }
    match split_scp(url) {
        Some((authority, path)) => {
            let host = authority.rsplit('@').next().unwrap_or(authority);
            format!("{host}:{path}")
        }
        None => url.to_owned(),
    }
}

fn short_hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .take(4)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

fn normalise_once(url: &str) -> String {
    let url = without_helper(url.trim());
    if let Some((scheme, rest)) = split_scheme(url) {
        let (authority, path) = split_authority(rest);
        if scheme.eq_ignore_ascii_case("file") {
            return join_id("", rest);
        }
        return join_id(host_of(authority), path);
    }
    match split_scp(url) {
        Some((authority, path)) => join_id(host_of(authority), path),
        None => join_id("", url),
    }
}

/// `ext::…`: the name of a remote helper before the address it is to use.
fn without_helper(url: &str) -> &str {
    match url.split_once("::") {
        Some((helper, address)) if !helper.is_empty() && helper.chars().all(is_scheme_char) => {
            address
        }
        _ => url,
    }
}

fn is_scheme_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')
}

fn split_scheme(url: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    (!scheme.is_empty() && scheme.chars().all(is_scheme_char)).then_some((scheme, rest))
}

/// Authority and path (with its leading slash) of what stands after `://`.
fn split_authority(rest: &str) -> (&str, &str) {
    rest.split_at(rest.find('/').unwrap_or(rest.len()))
}

/// `[user@]host:path`. As git has it, only where no slash stands before the colon; a single letter
/// before it is a drive of Windows.
fn split_scp(url: &str) -> Option<(&str, &str)> {
    let host_start = url
        .find('@')
        .filter(|at| !url.split_at(*at).0.contains(['/', '\\', ':']));
    let (_, host) = url.split_at(host_start.map_or(0, |at| at + 1));
    let colon_in_host = if host.starts_with('[') {
        host.find("]:").map(|end| end + 1)?
    } else {
        host.find(':')?
    };
    let colon = url.len() - host.len() + colon_in_host;
    let (authority, path) = url.split_at(colon);
    let is_drive = authority.len() == 1 && authority.starts_with(|c: char| c.is_ascii_alphabetic());
    let ok = !is_drive && !authority.is_empty() && !authority.contains(['/', '\\']);
    ok.then(|| (authority, path.strip_prefix(':').unwrap_or(path)))
}

/// Host without user, port and the brackets some write around `host:port`.
fn host_of(authority: &str) -> &str {
    let host = authority.rsplit('@').next().unwrap_or(authority);
    if let Some(inner) = host.strip_prefix('[') {
        let (inner, _) = inner.split_once(']').unwrap_or((inner, ""));
        // `[host:22]` names a port; more than one colon is an IPv6 address.
        return match inner.split_once(':') {
            Some((host, port)) if !port.contains(':') => host,
            _ => inner,
        };
    }
    host.split_once(':').map_or(host, |(host, _)| host)
}

fn join_id(host: &str, path: &str) -> String {
    // An IPv6 address would read as `host:path` the next time round.
    let host = host.replace(':', "-");
    let mut segments: Vec<String> = Vec::new();
    for segment in path.split(['/', '\\']) {
        match segment.trim() {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            segment => segments.push(segment.to_lowercase()),
        }
    }
    if host.is_empty()
        && let Some(first) = segments.first_mut()
    {
        // A drive: `c:/x` is `c/x`.
        *first = first.trim_end_matches(':').replace(':', "-");
    }
    let mut id = host.trim().to_lowercase();
    for segment in segments.iter().filter(|segment| !segment.is_empty()) {
        if !id.is_empty() {
            id.push('/');
        }
        id.push_str(segment);
    }
    while let Some(shorter) = id.strip_suffix(".git") {
        let shorter = shorter.trim_end_matches('/').trim_end().len();
        id.truncate(shorter);
    }
    id
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn id(url: &str) -> String {
        remote_id(url).unwrap_or_default()
    }

    #[test]
    fn one_repository_many_spellings() {
        for url in [
            "git@github.com:Acme/Shop.git",
            "git@github.com:/Acme/Shop",
            "github.com:acme/shop",
            "ssh://git@github.com/acme/shop.git",
            "ssh://git@github.com:22/acme/shop",
            "git@[github.com:22]:acme/shop.git",
            "https://github.com/Acme/Shop",
            "https://github.com/Acme/Shop.git/",
            "https://user:p@ss@GitHub.com:443//acme/./shop.git",
            "HTTPS://x-access-token:abc@github.com/acme/shop",
            "git://github.com/acme/shop.git",
            "git+ssh://git@github.com/acme/shop.git",
            "  https://github.com/acme/x/../shop  ",
        ] {
            assert_eq!(id(url), "github.com/acme/shop", "{url}");
        }
    }

    #[test]
    fn other_hosts_keep_what_tells_them_apart() {
        assert_eq!(
            id("https://gitlab.com/group/sub/Proj.git"),
            "gitlab.com/group/sub/proj"
        );
        assert_eq!(id("ssh://host:2222/~mei/x.git"), "host/~mei/x");
        assert_eq!(
            id("git@ssh.dev.azure.com:v3/org/p/r"),
            "ssh.dev.azure.com/v3/org/p/r"
        );
        assert_eq!(id("ssh://git@[::1]:22/x/y"), "--1/x/y");
        assert_eq!(id("ext::ssh://git@host/x"), "host/x");
        assert_eq!(id("https://host"), "host");
    }

    #[test]
    fn local_paths() {
        assert_eq!(id("/srv/Git/shop.git"), "srv/git/shop");
        assert_eq!(id("file:///srv/git/shop.git"), "srv/git/shop");
        assert_eq!(id("/srv/shop/.git"), "srv/shop");
        assert_eq!(id("../shop.git"), "shop");
        assert_eq!(id(r"C:\Git\Shop.git"), "c/git/shop");
        assert_eq!(id("file:///C:/Git/Shop.git"), "c/git/shop");
        assert_eq!(id(r"\\server\share\shop"), "server/share/shop");
        assert_eq!(id("./a:b/c"), "a-b/c");
        assert_eq!(remote_id(""), None);
        assert_eq!(remote_id(" /.git/ "), None);
    }

    #[test]
    fn slugs_are_file_names() {
        assert_eq!(slug("github.com/acme/shop"), "github.com-acme-shop");
        assert_eq!(slug("local/my dir-0123abcd"), "local-my dir-0123abcd");
        assert_eq!(slug("../../etc"), "-.-..-etc");
        assert_eq!(slug("a:b?\u{0}c. "), "a-b--c.-");
        assert_ne!(slug(&"é".repeat(200)), slug(&"é".repeat(201)));
        assert!(slug(&"é".repeat(200)).len() <= MAX_SLUG);
    }

    #[test]
    fn local_ids_name_the_folder_and_tell_two_of_one_name_apart() {
        let here = local_id("shop", b"/home/mei/shop");
        assert_ne!(here, local_id("shop", b"/home/bo/shop"));
        assert_eq!(here, "local/shop-25650a47");
        assert!(local_id("/", b"/").starts_with("local/root-"));
    }

    #[test]
    fn users_are_not_shown() {
        assert_eq!(without_user("https://u:p@h.de/x.git"), "https://h.de/x.git");
        assert_eq!(without_user("https://token@h.de"), "https://h.de");
        assert_eq!(without_user("ssh://git@h:22/a@b"), "ssh://h:22/a@b");
        assert_eq!(
            without_user("git@github.com:Acme/Shop.git"),
            "github.com:Acme/Shop.git"
        );
        assert_eq!(without_user("/srv/a@b.git"), "/srv/a@b.git");
        assert_eq!(without_user(r"C:\a@b"), r"C:\a@b");
    }

    fn urlish() -> impl Strategy<Value = String> {
        proptest::string::string_regex(
            "((https|file|ssh)://)?([a-zA-Z:]{1,5}@)?([A-Zß.:\\[\\]/\\\\@ ~-]|\\.git|\\.\\.|::){0,20}",
        )
        .unwrap()
    }

    fn check(url: &str) -> Result<(), TestCaseError> {
        let _ = without_user(url);
        if let Some(id) = remote_id(url) {
            prop_assert_eq!(remote_id(&id), Some(id.clone()), "of {:?}", url);
            prop_assert!(!id.contains("://") && !id.starts_with('/') && !id.ends_with(".git"));
            let slug = slug(&id);
            prop_assert!(!slug.contains(['/', '\\', '\0']) && !slug.is_empty());
            prop_assert!(slug.len() <= MAX_SLUG && slug != "." && slug != "..");
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn an_id_is_its_own_id(url in urlish()) {
            check(&url)?;
        }

        #[test]
        fn any_text_is_survived(url in any::<String>()) {
            check(&url)?;
        }
    }
}
