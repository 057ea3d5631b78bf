import type { KmsKey } from '@strongroom/kit/kms'
import type { SecretBox } from '@strongroom/kit/secret-box'

/** What the server can give a service beyond what all of them get; a service names it in its `Needs`. */
export interface Abilities {
  kmsKey: KmsKey
  /** Seals secrets of services with the key store, each under a branch key of its tenant. */
  secretBox: SecretBox
  /** The values of all settings. Which of them a service has declared, only the service knows. */
  config: never
}
