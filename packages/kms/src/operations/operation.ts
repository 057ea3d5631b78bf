/** What every operation is: its name on the wire, and a function from request to answer. */
import type { Location } from '../arn.ts'
import type { Unchecked } from '../checks.ts'
import type { Clock } from '../clock.ts'
import type { EncryptionContext } from '../encryption-context.ts'
import type { KeyStorage } from '../key-storage.ts'
import type { Keys } from '../keys.ts'
import type { Wrapping } from '../master-key.ts'

export interface Services {
  readonly storage: KeyStorage
  readonly keys: Keys
  readonly wrapping: Wrapping
  readonly location: Location
  readonly clock: Clock
}

/** What the audit record of a call says; an operation notes it as soon as it knows. */
export interface Trail {
  /** The ARN of the key, or what was given for it if no key was found. */
  key?: string
  context?: EncryptionContext
  /** Of the key that a blob is re-encrypted from. */
  sourceKey?: string
  sourceContext?: EncryptionContext
}

export interface Operation<Input, Output> {
  readonly name: string
  run(services: Services, input: Unchecked<Input>, trail: Trail): Promise<Output>
}
