/** A queue in which owners take turns, so that one who brings much does not delay the others. */

export interface FairQueue<T> {
  /** False if there is no room. */
  add(owner: string, item: T): boolean
  /** The next item of an owner who may have one now. */
  take(may: (owner: string) => boolean): T | undefined
  takeAll(): T[]
}

export interface QueueLimits {
  total: number
  perOwner: number
}

export function fairQueue<T>(limits: QueueLimits): FairQueue<T> {
  /** In the order of their turns. */
  const waiting = new Map<string, T[]>()
  let total = 0

  return {
    add(owner, item) {
      const own = waiting.get(owner) ?? []
      if (total >= limits.total || own.length >= limits.perOwner) return false
      own.push(item)
      waiting.set(owner, own)
      total += 1
      return true
    },

    take(may) {
      for (const [owner, own] of waiting) {
        if (!may(owner)) continue
        const item = own.shift()
        waiting.delete(owner)
        if (own.length > 0) waiting.set(owner, own)
        total -= 1
        return item
      }
      return undefined
    },

    takeAll() {
      const all = [...waiting.values()].flat()
      waiting.clear()
      total = 0
      return all
    },
  }
}
