//! Safe encoding of text, data and scripts in a page.

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Bytes as base64.
pub fn base64(bytes: impl IntoIterator<Item = u8>) -> String {
    let mut text = String::new();
    let mut bytes = bytes.into_iter();
    while let Some(a) = bytes.next() {
        let (b, c) = (bytes.next(), bytes.next());
        let word = u32::from(a) << 16 | u32::from(b.unwrap_or(0)) << 8 | u32::from(c.unwrap_or(0));
        let digit = |shift: u32| char::from(DIGITS[(word >> shift & 63) as usize]);
        text.push(digit(18));
        text.push(digit(12));
        text.push(if b.is_some() { digit(6) } else { '=' });
        text.push(if c.is_some() { digit(0) } else { '=' });
    }
    text
}

/// Escapes text for HTML and SVG. Replaces characters that XML does not allow.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c if c.is_control() && !matches!(c, '\n' | '\t') => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Encodes JSON for a `<script>` element; no `<` can end it.
pub fn script_json(value: &serde_json::Value) -> String {
    value.to_string().replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_rfc_4648() {
        for (plain, coded) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(base64(plain.bytes()), coded);
        }
    }

    #[test]
    fn nothing_ends_a_script_or_opens_a_tag() {
        assert_eq!(escape("</script>&\"'\u{0}"), "&lt;/script&gt;&amp;&quot;&#39;\u{fffd}");
        assert!(!script_json(&serde_json::json!("</script><!--")).contains('<'));
    }
}
