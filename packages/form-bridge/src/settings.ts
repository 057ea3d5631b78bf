/** The settings of Form-Bridge, and what follows from them. */
import type { ConfigTable, ConfigValues } from '@strongroom/kit/config'
import { boolean, type ConfigType, integer, list, network, url } from '@strongroom/kit/config-types'
import type { SafeFetchOptions } from '@strongroom/kit/safe-fetch'
import { isSigningSecret } from './submissions/webhook-signature.ts'

export const formBridgeSettings = {
  FORM_BRIDGE_ALLOW_HTTP: {
    type: boolean(),
    default: false,
    description: 'Whether sites may be connected that are reached by http only',
  },
  FORM_BRIDGE_ALLOWED_NETWORKS: {
    type: list(network()),
    default: [],
    description: 'Networks in which sites may be although they are not public, with any port',
  },
  FORM_BRIDGE_DESTINATION: {
    type: url(),
    description:
      'Where submissions go unless a site has a destination of its own, such as a source of Ferryhook',
  },
  FORM_BRIDGE_DESTINATION_SECRET: {
    type: signingSecret(),
    secret: true,
    description: 'Signs what is sent there, as Standard Webhooks do: whsec_ and base64',
  },
  FORM_BRIDGE_DESTINATION_NETWORKS: {
    type: list(network()),
    default: [],
    description: 'Networks that submissions may be sent into, also by http, although not public',
  },
  FORM_BRIDGE_RELEASE_KEYS: {
    type: list(publicKey()),
    default: [],
    description: 'Public keys whose signature a plugin package needs to be published',
  },
  FORM_BRIDGE_REGISTRATION_LIMIT: {
    type: integer({ min: 1, max: 1_000_000 }),
    default: 30,
    description: 'Registrations from one address in five minutes, without a join token',
  },
  FORM_BRIDGE_API_LIMIT: {
    type: integer({ min: 1, max: 1_000_000 }),
    default: 100,
    description: 'Requests of one site in a minute; twenty times as many in an hour, 100 in a day',
  },
} as const satisfies ConfigTable

export type FormBridgeSettings = ConfigValues<typeof formBridgeSettings>

type Policy = Pick<SafeFetchOptions, 'allow' | 'allowHttp' | 'ports' | 'userAgent' | 'timeoutMs'>

const USER_AGENT = 'Form-Bridge/1.0'
const PROOF_MS = 8_000
/** Less than the plugin waits: what it gave up on it would take for an outage, and send again. */
const DELIVERY_MS = 4_000

/** Which sites are asked for a proof, and how. */
export function sitePolicy(settings: FormBridgeSettings): Policy {
  const allow = settings.FORM_BRIDGE_ALLOWED_NETWORKS
  return {
    allow,
    allowHttp: settings.FORM_BRIDGE_ALLOW_HTTP,
    ports: allow.length > 0 ? 'unprivileged' : 'web',
    userAgent: USER_AGENT,
    timeoutMs: PROOF_MS,
  }
}

/** Where submissions may be sent. */
export function destinationPolicy(
  settings: Pick<FormBridgeSettings, 'FORM_BRIDGE_DESTINATION_NETWORKS'>,
): Policy {
  const allow = settings.FORM_BRIDGE_DESTINATION_NETWORKS
  return {
    allow,
    allowHttp: allow.length > 0,
    ports: 'unprivileged',
    userAgent: USER_AGENT,
    timeoutMs: DELIVERY_MS,
  }
}

function signingSecret(): ConfigType<string> {
  return {
    expects: 'whsec_ and at least 24 bytes in base64',
    parse: (given) => (isSigningSecret(given) ? given : undefined),
    format: String,
  }
}

function publicKey(): ConfigType<string> {
  return {
    expects: 'an Ed25519 public key, 32 bytes in base64, as "strongroom plugin keygen" prints it',
    parse: (given) =>
      Buffer.from(given, 'base64').toString('base64') === given && given.length === 44
        ? given
        : undefined,
    format: String,
  }
}
