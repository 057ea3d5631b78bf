/**
 * A link or a part of one, as it arrives: programs escape some of its characters and take the
 * bracket, quote or full stop next to it for a part of it.
 */
export function unwrapped(pasted: string): string {
  return pasted
    .replaceAll(/%(?:3a|2d|5f)/gi, decodeURIComponent)
    .replace(/^(?:%[0-9a-f]{2}|[^\w-])+/i, '')
    .replace(/(?:%[0-9a-f]{2}|[^\w:=%-])+$/i, '')
}
