// Sealed compared with the server for one-time secrets that a team writes itself with Fastify and Redis: secrets
// per CPU second of all processes of either side, both durable. All requests of a client are counted: Sealed
// needs a token before it creates a secret, and an acknowledgement after it was read.

import { Caller } from '../http/call.ts'
import { expectStatus, operations } from '../http/operations.ts'
import { startPeer } from '../http/peer-process.ts'
import { hasRedis, NO_REDIS, startRedis } from '../http/redis.ts'
import type { Options } from '../options.ts'
import { cpuTarget, mainTarget, type Result } from '../result.ts'
import { measureInTurns, pair } from '../rounds.ts'
import {
  ackCall,
  createCall,
  draft,
  issueToken,
  newClaim,
  revealCall,
  type Secret,
} from '../sealed/requests.ts'
import { startSealed } from '../sealed/server.ts'
import type { Workspace } from '../workspace.ts'

const CONNECTIONS = 16
const ROUNDS = 9
/** Operations of each system until its code is compiled. */
const WARM_UP = 6_000
const PER_SECOND = 6_000
const MIN_PER_ROUND = 300

export async function sealedPeerSection(workspace: Workspace, options: Options): Promise<Result> {
  const title = 'Sealed, and a server of Fastify and Redis, both durable on disk'
  if (!hasRedis()) return { title, figures: [], targets: [], notes: [NO_REDIS] }
  const sealed = await startSealed(workspace.directory())
  const redis = await startRedis(workspace.directory())
  const peer = await startPeer('sealed/peer.js', { REDIS_URL: redis.url })
  const caller = new Caller(sealed.url, CONNECTIONS)
  const peerCaller = new Caller(peer.url, CONNECTIONS)
  const count = Math.max(MIN_PER_ROUND, Math.round((PER_SECOND * options.seconds) / ROUNDS))
  const timing = {
    warmUpSeconds: 0,
    warmUpRounds: Math.ceil(WARM_UP / count),
    rounds: ROUNDS,
    seconds: options.seconds,
  }
  const ours = { processes: [sealed.pid], connections: CONNECTIONS, count }
  const theirs = { processes: [redis.pid, peer.pid], connections: CONNECTIONS, count }
  const made: Secret[] = []
  const peerMade: string[] = []

  const creates = await measureInTurns(
    [
      operations('sealed', {
        ...ours,
        async operate() {
          const secret = await issueToken(caller)
          await expectStatus(201, caller.post(createCall(secret)))
          made.push(secret)
        },
      }),
      operations('Fastify and Redis', {
        ...theirs,
        async operate() {
          const { body } = createCall(draft('', ''))
          const created = await expectStatus(201, peerCaller.post({ path: '/secrets', body }))
          peerMade.push((JSON.parse(created.body) as { id: string }).id)
        },
      }),
    ],
    'create 1 KB',
    CONNECTIONS,
    timing,
  )
  const reads = await measureInTurns(
    [
      operations('sealed', {
        ...ours,
        async operate() {
          const secret = made.shift()!
          const claim = newClaim()
          await expectStatus(200, caller.post(revealCall(secret, claim)))
          await expectStatus(204, caller.post(ackCall(secret, claim)))
        },
      }),
      operations('Fastify and Redis', {
        ...theirs,
        operate: () => expectStatus(200, peerCaller.get(`/secrets/${peerMade.shift()}`)),
      }),
    ],
    'read 1 KB',
    CONNECTIONS,
    timing,
  )
  caller.close()
  peerCaller.close()
  await sealed.close()
  await peer.close()
  await redis.close()
  return {
    title,
    figures: [...creates, ...reads],
    targets: [
      cpuTarget('Sealed, secrets created per CPU second, times the peer', pair(creates), 2),
      cpuTarget('Sealed, secrets read per CPU second, times the peer', pair(reads), 2),
    ].map(mainTarget),
    notes: [],
    chart: {
      title:
        'Secrets per CPU second, all requests counted: Sealed, and a server of Fastify and Redis',
      value: 'calls per CPU second',
      scale: 'linear',
    },
  }
}
