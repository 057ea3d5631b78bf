/** The settings of Form-Bridge, and the request policies that follow from them. */
import type { ConfigTable, ConfigValues } from '@strongroom/kit/config'
import { boolean, type ConfigType, integer, list, network, url } from '@strongroom/kit/config-types'
import type { SafeFetchOptions } from '@strongroom/kit/safe-fetch'
import { isSigningSecret } from './submissions/destination.ts'

export const formBridgeSettings = {
  FORM_BRIDGE_ALLOW_HTTP: {
    type: boolean(),
    default: false,
    description: 'Whether to connect sites that only support http',
  },
  FORM_BRIDGE_ALLOWED_NETWORKS: {
    type: list(network()),
    default: [],
    description: 'Private networks whose sites may be connected, on any port',
  },
  FORM_BRIDGE_DESTINATION: {
    type: url(),
    description:
      'The default destination of submissions, such as the URL of a Ferryhook source; a site can have its own',
  },
  FORM_BRIDGE_DESTINATION_SECRET: {
    type: signingSecret(),
    secret: true,
    description:
      'Signs submissions to the default destination as Standard Webhooks: whsec_ and base64',
  },
  FORM_BRIDGE_DESTINATION_NETWORKS: {
    type: list(network()),
    default: [],
    description: 'Private networks that submissions may be sent to, also by http',
  },
  FORM_BRIDGE_RELEASE_KEYS: {
    type: list(publicKey()),
    default: [],
    description: 'Public keys that verify plugin packages; a package needs a signature by one',
  },
  FORM_BRIDGE_REGISTRATION_LIMIT: {
    type: integer({ min: 1, max: 1_000_000 }),
    default: 30,
    description: 'Registrations from one address in five minutes, without a join token',
  },
  FORM_BRIDGE_API_LIMIT: {
    type: integer({ min: 1, max: 1_000_000 }),
    default: 100,
    description: 'Requests of one site per minute; 20 times as many per hour, 100 times per day',
  },
} as const satisfies ConfigTable

export type FormBridgeSettings = ConfigValues<typeof formBridgeSettings>

type Policy = Pick<SafeFetchOptions, 'allow' | 'allowHttp' | 'ports' | 'userAgent' | 'timeoutMs'>

const USER_AGENT = 'Form-Bridge/1.0'
const PROOF_TIMEOUT_MS = 8_000
/** Shorter than the timeout of the plugin, which would treat its own timeout as an outage. */
const DELIVERY_TIMEOUT_MS = 4_000

/** Requests to sites, for proofs and validations. */
export function sitePolicy(settings: FormBridgeSettings): Policy {
  const allow = settings.FORM_BRIDGE_ALLOWED_NETWORKS
  return {
    allow,
    allowHttp: settings.FORM_BRIDGE_ALLOW_HTTP,
    ports: allow.length > 0 ? 'unprivileged' : 'web',
    userAgent: USER_AGENT,
    timeoutMs: PROOF_TIMEOUT_MS,
  }
}

/** Requests to the destinations of submissions. */
export function destinationPolicy(
  settings: Pick<FormBridgeSettings, 'FORM_BRIDGE_DESTINATION_NETWORKS'>,
): Policy {
  const allow = settings.FORM_BRIDGE_DESTINATION_NETWORKS
  return {
    allow,
    allowHttp: allow.length > 0,
    ports: 'unprivileged',
    userAgent: USER_AGENT,
    timeoutMs: DELIVERY_TIMEOUT_MS,
  }
}

function signingSecret(): ConfigType<string> {
  return {
    expects: 'whsec_ and at least 24 bytes in base64',
    parse: (text) => (isSigningSecret(text) ? text : undefined),
    format: String,
  }
}

function publicKey(): ConfigType<string> {
  return {
    expects: 'an Ed25519 public key, 32 bytes in base64, as "strongroom plugin keygen" prints it',
    parse: (text) =>
      Buffer.from(text, 'base64').toString('base64') === text && text.length === 44
        ? text
        : undefined,
    format: String,
  }
}
