/** `/server/v1/kms`: the state of the KMS, never key material. */
import { stat } from 'node:fs/promises'
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { AppEnv } from '@strongroom/kit/http/env'
import { jsonResponse } from '@strongroom/kit/http/openapi'
import { operatorErrors, type OperatorPermissions } from '@strongroom/kit/http/permissions'
import { verifyAudit } from '@strongroom/kms/audit-verify'
import { type Clock, isRecent } from '@strongroom/platform/clock'
import type { Settings } from '../settings.ts'
import { auditFilePath } from './embedded.ts'
import { createKmsKeyStorage } from './key-storage.ts'
import type { OpenKms } from './open.ts'
import { kmsStatusOf } from './status.ts'

/** A larger file takes too long for a request; the command verifies any. */
const MAX_VERIFIED_BYTES = 16 * 1024 * 1024
const CACHE_MS = 60_000

const KmsView = z
  .object({
    kind: z.enum(['embedded', 'endpoint', 'aws']),
    label: z.string(),
    location: z.string(),
    arn: z.string().openapi({ description: 'The key that this server encrypts with' }),
    state: z.enum(['ready', 'not_ready']),
    embedded: z
      .object({
        keys: z.int().openapi({ description: 'Keys in the embedded KMS' }),
        key: z
          .object({
            state: z.string().openapi({ example: 'Enabled' }),
            versions: z.int(),
            newestVersionAt: z.string().nullable(),
          })
          .nullable(),
        masterKey: z.object({
          file: z.string(),
          protection: z.enum(['none', 'passphrase']).nullable(),
          change: z
            .enum(['begun', 'decided'])
            .nullable()
            .openapi({ description: 'A replacement of the master key that is not finished' }),
        }),
        problem: z.string().nullable(),
        audit: z
          .object({
            file: z.string(),
            records: z.int(),
            last: z.string().openapi({ description: 'The hash of the last record' }),
            findings: z.int(),
          })
          .nullable()
          .openapi({
            description: `The verified audit log; null if there is none, or if it is larger than ${MAX_VERIFIED_BYTES} bytes: use "strongroom kms audit verify"`,
          }),
      })
      .nullable(),
  })
  .openapi('Kms')
export type KmsView = z.infer<typeof KmsView>

export function kmsRoutes(deps: {
  permit: OperatorPermissions
  kms: Pick<OpenKms, 'key' | 'kind' | 'label' | 'location' | 'keysDb' | 'check'>
  settings: Settings
  clock: Clock
}): OpenAPIHono<AppEnv> {
  const { permit, kms, settings, clock } = deps
  let cached: { view: Promise<KmsView>; readAt: number } | undefined

  async function readEmbedded(): Promise<KmsView['embedded']> {
    const { keysDb: db } = kms
    if (!db) return null
    const [{ key, masterKey, problem }, keys, audit] = await Promise.all([
      kmsStatusOf(db, settings),
      createKmsKeyStorage(db).list(),
      verifyIfSmall(auditFilePath(settings)),
    ])
    const shown = key && {
      state: key.state,
      versions: key.versions,
      newestVersionAt: key.newestVersionAt,
    }
    return { keys: keys.length, key: shown, masterKey, problem, audit }
  }

  async function read(): Promise<KmsView> {
    const { key, kind, label, location } = kms
    const [embedded, isReady] = await Promise.all([
      readEmbedded(),
      kms.check().then(
        () => true,
        () => false,
      ),
    ])
    const state = isReady ? ('ready' as const) : ('not_ready' as const)
    return { kind, label, location, arn: key.arn, state, embedded }
  }

  const route = createRoute({
    ...permit.viewer,
    method: 'get',
    path: '/server/v1/kms',
    summary: 'Get the state of the KMS',
    description: 'At most one minute old. No key material.',
    responses: { 200: jsonResponse(KmsView, 'The state'), ...operatorErrors },
  })
  return new OpenAPIHono<AppEnv>().openapi(route, async (c) => {
    if (!cached || !isRecent(clock, cached.readAt, CACHE_MS)) {
      const view = read()
      cached = { view, readAt: clock.now() }
      view.catch(() => (cached = undefined))
    }
    return c.json(await cached.view, 200)
  })
}

async function verifyIfSmall(file: string) {
  const found = await stat(file).catch(() => undefined)
  if (!found || found.size > MAX_VERIFIED_BYTES) return null
  const { records, last, findings } = await verifyAudit(file)
  return { file, records, last, findings: findings.length }
}
