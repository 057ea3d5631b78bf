// Checks the stored counts and sizes of tables, indexes and backups against what was found.

import type { Count } from '../counts.ts'
import type { CatalogContents } from './catalog.ts'
import type { Problems } from './problems.ts'

const NONE: Count = { items: 0, bytes: 0 }

export class CountCheck {
  /** By id of table, index or backup. */
  readonly #found = new Map<number, Count>()
  readonly #ignored = new Set<number>()

  add(id: number, bytes: number): void {
    const found = this.#found.get(id)
    if (found === undefined) this.#found.set(id, { items: 1, bytes })
    else {
      found.items++
      found.bytes += bytes
    }
  }

  /** Leaves out a table or index with a value that could not be read. */
  ignore(id: number): void {
    this.#ignored.add(id)
  }

  /** Not after so many problems that the check stopped. */
  compare({ tables, backups, counts }: CatalogContents, problems: Problems): void {
    if (problems.isFull) return
    const known = new Set<number>()
    const compare = (
      id: number,
      what: string,
      isCopy: boolean,
      stored = counts.get(id) ?? NONE,
    ): void => {
      known.add(id)
      if (this.#ignored.has(id)) return
      const { items, bytes } = this.#found.get(id) ?? NONE
      if (stored.items === items && stored.bytes === bytes) return
      problems.add(
        'count',
        // Otherwise items may have been lost.
        items >= stored.items || isCopy ? 'rebuild' : 'restore',
        `${what} has ${items} items of ${bytes} bytes, but its stored count is ${stored.items} items of ${stored.bytes} bytes`,
      )
    }
    for (const { id, name, indexes } of tables) {
      compare(id, `Table "${name}"`, false)
      for (const index of indexes)
        compare(index.id, `Index "${index.name}" of table "${name}"`, true)
    }
    for (const { id, name, status, items, bytes } of backups) {
      const what = `Backup "${name}"`
      // The record of a finished backup has its count.
      if (status === 'AVAILABLE') compare(id, what, true, { items, bytes })
      else compare(id, what, true)
    }
    for (const id of counts.keys()) {
      if (known.has(id)) continue
      problems.add('count', 'rebuild', `A count belongs to no table or index (id ${id})`)
    }
  }
}
