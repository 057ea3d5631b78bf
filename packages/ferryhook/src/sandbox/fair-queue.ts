/** A queue in which owners take turns, so that an owner with many items does not delay the others. */

export interface FairQueue<T> {
  /** False if the queue, or the owner's share of it, is full. */
  add(owner: string, item: T): boolean
  /** The next item of an owner for whom `canRun` is true. */
  take(canRun: (owner: string) => boolean): T | undefined
  takeAllOf(owner: string): T[]
  takeAll(): T[]
}

export interface QueueLimits {
  total: number
  perOwner: number
}

export function createFairQueue<T>(limits: QueueLimits): FairQueue<T> {
  /** In the order of their turns. */
  const owners = new Map<string, T[]>()
  let total = 0

  return {
    add(owner, item) {
      const items = owners.get(owner) ?? []
      if (total >= limits.total || items.length >= limits.perOwner) return false
      items.push(item)
      owners.set(owner, items)
      total += 1
      return true
    },

    take(canRun) {
      for (const [owner, items] of owners) {
        if (!canRun(owner)) continue
        const item = items.shift()
        owners.delete(owner)
        if (items.length > 0) owners.set(owner, items)
        total -= 1
        return item
      }
      return undefined
    },

    takeAllOf(owner) {
      const items = owners.get(owner) ?? []
      owners.delete(owner)
      total -= items.length
      return items
    },

    takeAll() {
      const all = [...owners.values()].flat()
      owners.clear()
      total = 0
      return all
    },
  }
}
