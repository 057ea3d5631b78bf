/** Records of the stream of a table, for tasks that are due. */
export interface StreamEvent {
  Records: StreamRecord[]
}

export interface StreamRecord {
  eventName: 'INSERT' | 'MODIFY' | 'REMOVE'
  dynamodb: {
    SequenceNumber: string
    NewImage?: Record<string, { S?: string; N?: string }>
  }
}

/** Lambda repeats the batch from this record on. */
export interface BatchResult {
  batchItemFailures: { itemIdentifier: string }[]
}

/** The clocks of two machines differ, and a task may be due a moment after it is written. */
const MAX_EARLY_MS = 2_000

/**
 * When the tasks of the records that are due now or in a moment are all due; undefined if there are
 * none. Others are retries and leases, which the schedule takes care of.
 */
export function findDueTime({ Records }: StreamEvent, now: number): number | undefined {
  const times = Records.flatMap(({ eventName, dynamodb: { NewImage } }) => {
    const dueAt = Number(NewImage?.['dueAt']?.N ?? NaN)
    const isTask = eventName !== 'REMOVE' && (NewImage?.['PK']?.S ?? '').startsWith('DUE#')
    return isTask && dueAt <= now + MAX_EARLY_MS ? [dueAt] : []
  })
  return times.length === 0 ? undefined : Math.max(...times)
}
