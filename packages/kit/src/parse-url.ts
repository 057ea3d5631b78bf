/**
 * Parses a URL; undefined if the text is none. Replaces `URL.canParse`, which in Node 20 and 22 rejects
 * letters such as ü after some thousand calls.
 */
export function parseUrl(text: string, base?: URL): URL | undefined {
  try {
    return new URL(text, base)
  } catch {
    return undefined
  }
}
