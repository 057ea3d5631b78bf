import type { KmsKey } from '@strongroom/kit/kms'

/** What the server can give a service beyond what all of them get; a service names it in its `Needs`. */
export interface Abilities {
  kmsKey: KmsKey
  /** The values of all settings. Which of them a service has declared, only the service knows. */
  config: never
}
