/** Lists of the operator API, page by page. */
import type { ApiClient } from '../api-client.ts'

const PAGE = 100

/** All items of a list, or its first `max` ones. Parameters that are undefined are left out. */
export async function listItems<T>(
  api: ApiClient,
  path: string,
  parameters: Readonly<Record<string, string | undefined>> = {},
  max = Infinity,
): Promise<T[]> {
  const found: T[] = []
  let cursor: string | null = null
  do {
    const query = new URLSearchParams({ limit: String(Math.min(PAGE, max - found.length)) })
    for (const [name, value] of Object.entries({ ...parameters, cursor })) {
      if (typeof value === 'string') query.set(name, value)
    }
    const page: { items: T[]; cursor: string | null } = await api(
      'GET',
      `${path}?${query.toString()}`,
    )
    found.push(...page.items)
    cursor = page.cursor
  } while (cursor !== null && found.length < max)
  return found
}
