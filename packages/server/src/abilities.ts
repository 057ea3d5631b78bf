import type { Envelope } from '@strongroom/key-store/envelope'
import type { KmsKey } from '@strongroom/kit/kms'

/** What the server can give a service beyond what all of them get; a service names it in its `Needs`. */
export interface Abilities {
  kmsKey: KmsKey
  /** Seals secrets of services with the key store, each under a branch key of its tenant. */
  secretBox: Envelope
  /** The values of all settings. Which of them a service has declared, only the service knows. */
  config: never
}
