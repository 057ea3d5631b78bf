/** Names of headers. Without schemas, because settings name headers and every command loads the settings. */

/** RFC 9110 section 5.6.2, in lower case. */
export const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/

export const MAX_NAME_LENGTH = 100

/** The name in lower case; undefined if it cannot be one. */
export function parseHeaderName(text: string): string | undefined {
  const name = text.toLowerCase()
  return text.length <= MAX_NAME_LENGTH && HEADER_NAME.test(name) ? name : undefined
}
