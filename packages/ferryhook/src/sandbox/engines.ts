/**
 * The engines of a thread. Scripts of different owners never run in the same memory, so that nothing
 * that one leaves behind, were it by a bug of the engine, is there for another. Those of one owner
 * may follow each other: a new engine takes longer than most scripts.
 */
import type { Engine, NewEngine } from './quickjs.ts'

export interface Engines {
  /** An engine that nobody else has, until it is given back. */
  take(owner: string): Promise<Engine>
  /** Only for an engine in which everything went well and nothing is left. */
  giveBack(owner: string, engine: Engine): void
}

const mostKept = 4

export function createEngines(newEngine: NewEngine): Engines {
  const kept = new Map<string, Engine>()
  return {
    async take(owner) {
      const engine = kept.get(owner)
      kept.delete(owner)
      return engine ?? newEngine()
    },

    giveBack(owner, engine) {
      kept.set(owner, engine)
      const [oldest] = kept.keys()
      if (kept.size > mostKept && oldest !== undefined) kept.delete(oldest)
    },
  }
}
