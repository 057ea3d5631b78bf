/** Work that nothing awaits where it is started, so that a shutdown can wait for it. */
export interface InFlight {
  readonly count: number
  /** Returns the same promise; its failure remains the caller's. */
  track<T>(work: Promise<T>): Promise<T>
  /** Resolves when nothing is running, including work that was added on the way. Never rejects. */
  settled(): Promise<void>
}

export function createInFlight(): InFlight {
  const running = new Set<Promise<unknown>>()
  return {
    get count() {
      return running.size
    },

    track(work) {
      running.add(work)
      const forget = () => void running.delete(work)
      work.then(forget, forget)
      return work
    },

    async settled() {
      while (running.size > 0) await Promise.allSettled(running)
    },
  }
}
