import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'esbuild'
import { openEngine } from '@strongroom/engine/engine'
import { searchDisk } from '@strongroom/engine/testing/disk-search'
import { operationsTable } from '@strongroom/kit/operations-table'
import { serverTable } from '@strongroom/kit/server-table'
import { createTables } from '@strongroom/kit/tables'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createSealedApi, type SealedApi } from '../../../src/client/api.ts'
import { openSecret } from '../../../src/client/open-secret.ts'
import { sealSecret } from '../../../src/client/seal-secret.ts'
import { deriveKeys } from '../../../src/crypto/keys.ts'
import { revealProof } from '../../../src/crypto/seal.ts'
import { secretsTable } from '../../../src/tables.ts'
import { startApp } from '../../support/sealed-app.ts'
import { newClaim } from '../../support/sealed-client.ts'

const ROUNDS = process.env['SLOW'] === '1' ? 20 : 2

/** The scripts of the page need a build of their own, and nothing here uses the page. */
const withoutPage: Plugin = {
  name: 'without the page',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\?bundle$/ }, ({ path }) => ({ path, namespace: 'page' }))
    onLoad({ filter: /./, namespace: 'page' }, () => ({ contents: `export default ''` }))
  },
}

let script = ''
beforeAll(async () => {
  const here = fileURLToPath(new URL('.', import.meta.url))
  // Below this package, so that it finds the native library, which is not bundled.
  script = join(mkdtempSync(join(here, '.bundle-')), 'server.mjs')
  await build({
    entryPoints: [join(here, 'server.ts')],
    outfile: script,
    bundle: true,
    platform: 'node',
    format: 'esm',
    external: ['lmdb'],
    banner: {
      js: `import { createRequire as nodeRequire } from 'node:module'; const require = nodeRequire(import.meta.url)`,
    },
    plugins: [withoutPage],
    logLevel: 'error',
  })
})
afterAll(() => rmSync(join(script, '..'), { recursive: true, force: true }))

function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'sealed-deletion-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return join(directory, 'data')
}

/** A server in a process of its own, and how to kill it. */
async function startServer(directory: string) {
  const child = spawn(process.execPath, [script, directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const kill = async () => {
    child.kill('SIGKILL')
    await ended
  }
  onTestFinished(kill)
  const [base] = (await once(createInterface(child.stdout), 'line')) as [string]
  return { base, kill }
}

type Sealed = Awaited<ReturnType<typeof seal>>

/** A secret as its sender made it; `stored` is what the server got of it, as text and as bytes. */
async function seal(
  base: string,
  fetch: typeof globalThis.fetch,
  maxViews: number,
  receipt = false,
) {
  const stored: (string | Uint8Array)[] = []
  const api = createSealedApi({
    base,
    fetch: (url, init) => {
      const body = typeof init?.body === 'string' ? init.body : '{}'
      const { ciphertext } = JSON.parse(body) as { ciphertext?: string }
      if (ciphertext) stored.push(ciphertext, Buffer.from(ciphertext, 'base64'))
      return fetch(url, init)
    },
  })
  const text = `a text that nobody may read ${newClaim()}`
  const links = await sealSecret(api, { content: text, ttlSeconds: 86_400, maxViews, receipt })
  expect(stored).toHaveLength(2)
  const { id, fragment } = links.secret
  const keys = await deriveKeys(fragment)
  return { api, id, keys, text, burnToken: links.management.burnToken, stored }
}

async function view({ id, keys, text }: Sealed, api: SealedApi): Promise<string> {
  const claim = newClaim()
  expect((await openSecret(api, { id, keys, claim })).content).toBe(text)
  return claim
}

interface Ending {
  how: string
  views: number
  end(secret: Sealed, api: SealedApi): Promise<void>
}

const endings: Ending[] = [
  {
    how: 'burned',
    views: 1,
    end: ({ id, burnToken }, api) => api.burn(id, burnToken),
  },
  {
    how: 'burned after two of three views',
    views: 3,
    async end(secret, api) {
      await api.ack(secret.id, await view(secret, api))
      await view(secret, api)
      await api.burn(secret.id, secret.burnToken)
    },
  },
  {
    how: 'viewed for the last time and acknowledged',
    views: 1,
    end: async (secret, api) => api.ack(secret.id, await view(secret, api)),
  },
  {
    how: 'destroyed by ten wrong passphrases',
    views: 2,
    async end({ id, keys }, api) {
      const request = { ...revealProof(keys), proof: Buffer.alloc(32, 7).toString('base64url') }
      for (let attempt = 0; attempt < 10; attempt++) {
        await api.reveal(id, { ...request, claim: newClaim() }).catch(() => undefined)
      }
    },
  },
]

function requestOf(app: Awaited<ReturnType<typeof startApp>>): typeof fetch {
  return async (url, init) => app.request(String(url).replace('http://sealed.test', ''), init)
}

describe('on the embedded store', () => {
  test.each(endings)(
    'nothing on the disk can be opened with the link of a secret that was $how, also if the server is killed right after the response',
    { timeout: 60_000 },
    async ({ views, end }) => {
      const directory = newDirectory()
      const server = await startServer(directory)
      const kept = await seal(server.base, fetch, 1)
      const ended = await seal(server.base, fetch, views)
      // The search finds what is there, or it would prove nothing below.
      expect(searchDisk(directory, ended.stored).found).toHaveLength(1)
      await end(ended, ended.api)
      expect(searchDisk(directory, ended.stored).found).toEqual([])

      const next = await seal(server.base, fetch, views, true)
      await end(next, next.api)
      await server.kill()
      for (const { stored } of [ended, next]) {
        expect(searchDisk(directory, stored).found).toEqual([])
      }
      expect(searchDisk(directory, kept.stored).found).toHaveLength(1)
      const { base } = await startServer(directory)
      await view(kept, createSealedApi({ base }))
    },
  )

  test('nothing can be opened after a secret has expired or its last claim has passed', async () => {
    const directory = newDirectory()
    const engine = await openEngine({ directory, sweepIntervalMs: 0 })
    onTestFinished(() => engine.close())
    await createTables(engine, [secretsTable, serverTable, operationsTable])
    const app = await startApp(engine)
    const request = requestOf(app)
    const [expired, viewed] = [
      await seal('http://sealed.test/', request, 2),
      await seal('http://sealed.test/', request, 1),
    ]
    await view(viewed, viewed.api)
    expect(searchDisk(directory, viewed.stored).found).toHaveLength(1)
    app.clock.advance({ seconds: 31 })
    await app.settle()
    expect(searchDisk(directory, viewed.stored).found).toEqual([])
    expect(searchDisk(directory, expired.stored).found).toHaveLength(1)
    app.clock.advance({ days: 1 })
    await view(expired, expired.api).catch(() => undefined)
    await app.settle()
    expect(searchDisk(directory, expired.stored).found).toEqual([])
  })

  test('secrets from before are encrypted at the first start, and leave nothing when they end', async () => {
    const directory = newDirectory()
    const older = await openEngine({ directory, sweepIntervalMs: 0 })
    await createTables(older, [{ ...secretsTable, secureDelete: false }, serverTable])
    const request = requestOf(await startApp(older))
    const [kept, burned, gone] = [
      await seal('http://sealed.test/', request, 1),
      await seal('http://sealed.test/', request, 1),
      await seal('http://sealed.test/', request, 1),
    ]
    await gone.api.burn(gone.id, gone.burnToken)
    for (const { stored } of [kept, burned, gone]) {
      expect(searchDisk(directory, stored).found).toEqual(['data.mdb, readable'])
    }
    await older.close()

    const engine = await openEngine({ directory, sweepIntervalMs: 0 })
    onTestFinished(() => engine.close())
    // What a start does; it waits until the table can be used.
    await createTables(engine, [secretsTable, serverTable], { pause: () => engine.settled() })
    const { base, fetch: next } = {
      base: 'http://sealed.test/',
      fetch: requestOf(await startApp(engine)),
    }
    expect(searchDisk(directory, gone.stored).found).toEqual([])
    const api = createSealedApi({ base, fetch: next })
    await api.burn(burned.id, burned.burnToken)
    expect(searchDisk(directory, burned.stored).found).toEqual([])
    expect(searchDisk(directory, kept.stored).found).toEqual([
      expect.stringContaining('data.mdb at'),
    ])
    await view(kept, api)
  })

  test(
    'several servers on one directory leave nothing of what any of them has ended',
    { timeout: 60_000 },
    async () => {
      const directory = newDirectory()
      const servers = [await startServer(directory), await startServer(directory)] as const
      const apis = servers.map(({ base }) => createSealedApi({ base }))
      const secrets = await Promise.all(
        Array.from({ length: 30 }, (_, at) => seal(servers[at % 2]!.base, fetch, 2)),
      )
      // Each view and each end is on the other server than the one before.
      await Promise.all(
        secrets.map(async (secret, at) => {
          await view(secret, apis[(at + 1) % 2]!)
          await apis[at % 2]!.burn(secret.id, secret.burnToken)
        }),
      )
      for (const server of servers) await server.kill()
      const { found } = searchDisk(
        directory,
        secrets.flatMap(({ stored }) => stored),
      )
      expect(found).toEqual([])
    },
  )

  test(
    'a server that is killed at any moment keeps every acknowledged secret and nothing of an acknowledged burn',
    { timeout: ROUNDS * 30_000 },
    async () => {
      const directory = newDirectory()
      const kept: Sealed[] = []
      const burned: Sealed[] = []
      for (let round = 0; round < ROUNDS; round++) {
        const server = await startServer(directory)
        const limit = 10 + Math.floor(Math.random() * 60)
        let done = 0
        const work = async (): Promise<void> => {
          for (;;) {
            const secret = await seal(server.base, fetch, 5)
            if (done % 3 === 0) {
              await secret.api.burn(secret.id, secret.burnToken)
              burned.push(secret)
            } else {
              kept.push(secret)
            }
            if (++done === limit) await server.kill()
          }
        }
        await Promise.allSettled(Array.from({ length: 8 }, work))
        expect(
          searchDisk(
            directory,
            burned.flatMap(({ stored }) => stored),
          ).found,
        ).toEqual([])
      }
      const { base } = await startServer(directory)
      const api = createSealedApi({ base })
      for (const secret of kept) await view(secret, api)
      expect([kept.length, burned.length].every((count) => count > 0)).toBe(true)
    },
  )
})
