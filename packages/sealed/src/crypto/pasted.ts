/**
 * A link or a part of one, as it arrives: programs escape its colons and take the bracket, quote or
 * full stop next to it for a part of it.
 */
export function unwrapped(pasted: string): string {
  return pasted
    .replaceAll(/%3a/gi, ':')
    .replace(/^[^\w-]+/, '')
    .replace(/(?:%[0-9a-f]{2}|[^\w:=%-])+$/i, '')
}
