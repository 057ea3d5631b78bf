/**
 * Remembers parses by their text. The oldest entry makes room for the newest, so that however many
 * different expressions a program sends, memory stays bounded (an expression has at most 4 KB).
 */

const MAX_ENTRIES = 500

export function cachedByText<T>(parse: (text: string) => T): (text: string) => T {
  const parses = new Map<string, T>()
  return (text) => {
    const known = parses.get(text)
    if (known !== undefined) return known
    const parsed = parse(text)
    if (parses.size >= MAX_ENTRIES) {
      for (const oldest of parses.keys()) {
        parses.delete(oldest)
        break
      }
    }
    parses.set(text, parsed)
    return parsed
  }
}
