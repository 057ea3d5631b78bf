import { createHash } from 'node:crypto'
import type { ServerSecrets } from '../server-secrets.ts'

/** Server secrets without a store and a KMS, for tests of what uses them: the same on every run. */
export function testSecrets(): ServerSecrets {
  const secret = (name: string) => ({
    version: 1,
    key: new Uint8Array(createHash('sha256').update(`test secret ${name}`).digest()),
  })
  return {
    current: async (name) => secret(name),
    accepted: async (name) => [secret(name)],
  }
}
