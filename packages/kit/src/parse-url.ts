/**
 * The address that a text is, if it is one. In place of `URL.canParse`, which in Node 20 and 22 refuses
 * letters such as ü once it was called some thousand times.
 */
export function parseUrl(text: string, base?: URL): URL | undefined {
  try {
    return new URL(text, base)
  } catch {
    return undefined
  }
}
