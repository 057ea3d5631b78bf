/**
 * Caches parsed expressions by their text. It evicts the oldest entry, so memory is bounded for any
 * number of different expressions (an expression has at most 4 KB).
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
