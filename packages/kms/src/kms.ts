/**
 * The embedded KMS: AWS KMS's operations on software keys, which a master key wraps.
 *
 * This is the in-process face; `sdk.ts` and `serve.ts` build on it. It protects a stolen store or
 * backup, not a machine under the control of an attacker: keys in use are in the memory of this process.
 */
import type * as api from './api.ts'
import { type Location, LOCAL } from './arn.ts'
import type { Audit } from './audit.ts'
import { isRecord, type Unchecked } from './checks.ts'
import { type Clock, systemClock } from '@strongroom/platform/clock'
import { sweepDueKeys } from './deletion-sweep.ts'
import { validationError } from './errors.ts'
import type { KeyStorage } from './key-storage.ts'
import { createKeys } from './keys.ts'
import { requireMasterKey, type MasterKey, wrappingBy } from './master-key/key.ts'
import { createKey } from './operations/create-key.ts'
import { decrypt } from './operations/decrypt.ts'
import { describeKey } from './operations/describe-key.ts'
import { encrypt } from './operations/encrypt.ts'
import { generateDataKey, generateDataKeyWithoutPlaintext } from './operations/generate-data-key.ts'
import {
  cancelKeyDeletion,
  disableKey,
  enableKey,
  scheduleKeyDeletion,
} from './operations/key-state.ts'
import { listKeys } from './operations/list-keys.ts'
import type { Operation, KmsContext, AuditFields } from './operations/operation.ts'
import { reEncrypt } from './operations/re-encrypt.ts'
import { rotateKeyOnDemand } from './operations/rotate-key-on-demand.ts'

export interface KmsOptions extends Partial<Location> {
  masterKey: MasterKey
  storage: KeyStorage
  clock?: Clock
  audit?: Audit
}

export interface KmsOperations {
  createKey(input?: api.CreateKeyInput): Promise<api.KeyOutput>
  describeKey(input: api.DescribeKeyInput): Promise<api.KeyOutput>
  listKeys(input?: api.ListKeysInput): Promise<api.ListKeysOutput>
  generateDataKey(input: api.GenerateDataKeyInput): Promise<api.GenerateDataKeyOutput>
  generateDataKeyWithoutPlaintext(input: api.GenerateDataKeyInput): Promise<api.BlobOutput>
  encrypt(input: api.EncryptInput): Promise<api.EncryptOutput>
  decrypt(input: api.DecryptInput): Promise<api.DecryptOutput>
  reEncrypt(input: api.ReEncryptInput): Promise<api.ReEncryptOutput>
  rotateKeyOnDemand(input: api.KeyInput): Promise<api.KeyInput>
  disableKey(input: api.KeyInput): Promise<object>
  enableKey(input: api.KeyInput): Promise<object>
  scheduleKeyDeletion(input: api.ScheduleKeyDeletionInput): Promise<api.ScheduleKeyDeletionOutput>
  cancelKeyDeletion(input: api.KeyInput): Promise<api.KeyInput>
}

export interface EmbeddedKms extends KmsOperations {
  readonly region: string
  readonly clock: Clock
  /** The same KMS with another caller in audit records; default `in-process`. */
  as(caller: string): EmbeddedKms
  /** Deletes keys whose deletion date has passed, once two sweeps an hour apart have seen it. */
  sweep(): Promise<void>
}

/** Throws `WrongMasterKey` if the store has keys of another master key. */
export async function createKms(options: KmsOptions): Promise<EmbeddedKms> {
  const { masterKey, storage, clock = systemClock, audit = () => {} } = options
  const location = {
    partition: options.partition ?? LOCAL.partition,
    region: options.region ?? LOCAL.region,
    account: options.account ?? LOCAL.account,
  }
  const wrapping = wrappingBy(masterKey)
  await requireMasterKey(storage, wrapping.check)
  const removed = (key: string) =>
    audit({ time: clock.now(), operation: 'DeleteKey', caller: 'kms', outcome: 'Success', key })
  const keys = createKeys({ storage, wrapping, location })
  const services: KmsContext = { storage, keys, wrapping, location, clock }

  const calledBy = (caller: string): EmbeddedKms => {
    const call =
      <Input, Output>({ name, run }: Operation<Input, Output>) =>
      async (input = {} as Unchecked<Input>): Promise<Output> => {
        const trail: AuditFields = {}
        const record = (outcome: string) =>
          audit({ time: clock.now(), operation: name, caller, outcome, ...trail })
        let output
        try {
          if (!isRecord(input)) throw validationError('The request must be an object')
          output = await run(services, input, trail)
        } catch (error) {
          record(error instanceof Error ? error.name : 'Error')
          throw error
        }
        record('Success')
        return output
      }
    return {
      region: location.region,
      clock,
      as: calledBy,
      sweep: () => sweepDueKeys({ storage, clock, removed }),
      createKey: call(createKey),
      describeKey: call(describeKey),
      listKeys: call(listKeys),
      generateDataKey: call(generateDataKey),
      generateDataKeyWithoutPlaintext: call(generateDataKeyWithoutPlaintext),
      encrypt: call(encrypt),
      decrypt: call(decrypt),
      reEncrypt: call(reEncrypt),
      rotateKeyOnDemand: call(rotateKeyOnDemand),
      disableKey: call(disableKey),
      enableKey: call(enableKey),
      scheduleKeyDeletion: call(scheduleKeyDeletion),
      cancelKeyDeletion: call(cancelKeyDeletion),
    }
  }
  return calledBy('in-process')
}
