/** A process that crashes at one of its writes. */
import type { Db } from '@strongroom/kit/db'
import { vi } from 'vitest'

const writing = [
  'putItem',
  'updateItem',
  'deleteItem',
  'batchWriteItem',
  'transactWriteItems',
] as const

/** Allows this many writes and then none, as if the process had crashed. */
export async function endingAfter<T>(db: Db, writes: number, run: () => Promise<T>) {
  let left = writes
  let isEnded = false
  const spies = writing.map((name) => {
    const write = db[name].bind(db) as (input: unknown) => Promise<never>
    return vi.spyOn(db, name).mockImplementation(async (input: unknown) => {
      isEnded ||= left-- === 0
      if (isEnded) throw new Error('The process has ended')
      return write(input)
    })
  })
  const answer = await run()
  for (const spy of spies) spy.mockRestore()
  return { answer, isEnded }
}
