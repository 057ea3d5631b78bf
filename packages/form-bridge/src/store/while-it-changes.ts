/** A write that holds only for what was read: it is read and tried again until nobody was faster. */
import { StoreBusy } from '@strongroom/kit/db-errors'

/** What was read is no longer so. */
export const CHANGED = Symbol('changed')

/** Each failure means that another write succeeded, so few are ever needed. */
const ATTEMPTS = 20

export async function whileItChanges<T>(attempt: () => Promise<T | typeof CHANGED>): Promise<T> {
  for (let number = 0; number < ATTEMPTS; number++) {
    const outcome = await attempt()
    if (outcome !== CHANGED) return outcome
  }
  throw new StoreBusy('Cannot write: what was read changes all the time')
}
