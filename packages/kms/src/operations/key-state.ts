/** The operations that change the state of a key. */
import type { KeyInput, ScheduleKeyDeletionInput, ScheduleKeyDeletionOutput } from '../api.ts'
import { parseKeyId, parseInteger } from '../checks.ts'
import { conflict, invalidState } from '../errors.ts'
import type { StateChange } from '../key-storage.ts'
import type { FoundKey } from '../keys.ts'
import type { Operation, KmsContext, AuditFields } from './operation.ts'

const DAY = 24 * 60 * 60 * 1000
const TRIES = 10

/** The change that a key in its current state needs, if any. */
type Decide = (key: FoundKey) => StateChange | undefined

/** Decides again if another process changed the key. */
async function change(
  { keys, storage }: KmsContext,
  keyId: unknown,
  trail: AuditFields,
  decide: Decide,
): Promise<string> {
  const given = parseKeyId(keyId)
  trail.key = given
  let wanted: StateChange | undefined
  for (let tries = 0; tries < TRIES; tries += 1) {
    const key = await keys.find(given)
    trail.key = key.arn
    // Written by the last attempt, whose response was lost, or by another caller with the same intent.
    if (wanted && isDone(key, wanted)) return key.arn
    wanted = decide(key)
    if (!wanted || (await storage.updateState(key.record.id, wanted, key.record.revision))) {
      return key.arn
    }
  }
  throw conflict('The key keeps being changed: try again')
}

function isDone({ record }: FoundKey, wanted: StateChange): boolean {
  if (wanted.state !== 'PendingDeletion') return record.state === wanted.state
  return record.state === wanted.state && record.deletionAt === wanted.deletionAt
}

function requireNotPending({ arn, record }: FoundKey): void {
  if (record.state === 'PendingDeletion') {
    throw invalidState(`${arn} is pending deletion: cancel that first`)
  }
}

function setState(name: string, state: 'Enabled' | 'Disabled'): Operation<KeyInput, object> {
  return {
    name,
    async run(services, input, trail) {
      await change(services, input.KeyId, trail, (key) => {
        requireNotPending(key)
        return key.record.state === state ? undefined : { state }
      })
      return {}
    },
  }
}

export const enableKey = setState('EnableKey', 'Enabled')
export const disableKey = setState('DisableKey', 'Disabled')

export const scheduleKeyDeletion: Operation<ScheduleKeyDeletionInput, ScheduleKeyDeletionOutput> = {
  name: 'ScheduleKeyDeletion',
  async run(services, input, trail) {
    const days = parseInteger(input.PendingWindowInDays ?? 30, 'PendingWindowInDays', 7, 30)
    const deletionAt = services.clock.now() + days * DAY
    const arn = await change(services, input.KeyId, trail, (key) => {
      requireNotPending(key)
      return { state: 'PendingDeletion', deletionAt }
    })
    return {
      KeyId: arn,
      DeletionDate: new Date(deletionAt),
      KeyState: 'PendingDeletion',
      PendingWindowInDays: days,
    }
  },
}

/** As on AWS, the key is disabled afterwards and must be enabled separately. */
export const cancelKeyDeletion: Operation<KeyInput, KeyInput> = {
  name: 'CancelKeyDeletion',
  async run(services, input, trail) {
    const arn = await change(services, input.KeyId, trail, (key) => {
      if (key.record.state !== 'PendingDeletion') {
        throw invalidState(`${key.arn} is not pending deletion`)
      }
      return { state: 'Disabled' }
    })
    return { KeyId: arn }
  },
}
