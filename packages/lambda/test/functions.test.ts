/**
 * The bundles of all functions, run as Lambda runs them, on DynamoDB Local and our KMS: what people do
 * with each service, and that roles allow what functions do and nothing else.
 */
import { createAuditLog } from '@strongroom/kit/audit-log'
import { systemClock } from '@strongroom/platform/clock'
import { createOperatorService } from '@strongroom/server/operators/service'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type EveryService, openEveryService } from '../../server/test/every-service.ts'
import { lambdaFunctions } from '../src/functions.ts'
import { testFerryhook } from './scenarios/ferryhook.ts'
import { testFormBridge } from './scenarios/form-bridge.ts'
import { testOperators } from './scenarios/operators.ts'
import { testSealed } from './scenarios/sealed.ts'
import { testTwoKey } from './scenarios/two-key.ts'
import { type Deployment, openDeployment } from './support/deployment.ts'
import { type Destination, openDestination } from './support/destination.ts'
import { deniedCalls, unusedPermissions } from './support/granted.ts'
import type { TestDeployment } from './support/scenario.ts'

const clock = {
  ...systemClock,
  advance(): never {
    throw new Error('Functions have the clock of the machine')
  },
}

let deployment: Deployment
let server: EveryService
let destination: Destination
let opened: TestDeployment

/** As a person does who deploys: `strongroom operator bootstrap` prints the code. */
async function claimFirstAdmin(): Promise<string> {
  const { db } = server
  const operators = createOperatorService({ db, clock, auditLog: createAuditLog({ db, clock }) })
  const created = await operators.createCodeIfNeeded({ actor: 'cli' })
  const body = { code: created?.code }
  const claimed = await server.ask('POST', '/server/v1/bootstrap', { body })
  expect(claimed.body).toMatchObject({ token: expect.any(String) })
  return claimed.body.token
}

/** Twenty processes; CI runs them. */
describe.runIf(process.env['SLOW'])('the functions of a deployment', () => {
  beforeAll(async () => {
    deployment = await openDeployment()
    destination = await openDestination()
    const store = {
      name: 'a deployment',
      open: async () => ({ db: deployment.db, close: async () => {} }),
    }
    server = await openEveryService(store, {
      clock,
      async openApp({ env }) {
        deployment.configure({
          ...env,
          SEALED_DIFFICULTY: '0',
          SEALED_DIFFICULTY_PER_DOUBLING: '0',
          FERRYHOOK_ALLOW_HTTP: 'true',
          FERRYHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
        })
        return {
          fetch(request, from: { incoming?: { socket: { remoteAddress: string } } }) {
            const sourceIp = from.incoming?.socket.remoteAddress
            return deployment.fetch(request, { ...(sourceIp !== undefined && { sourceIp }) })
          },
          close: async () => {},
        }
      },
    })
    opened = { deployment, server, destination, admin: await claimFirstAdmin() }
  }, 300_000)

  afterAll(async () => {
    await server?.close()
    destination?.close()
    await deployment?.close()
  })

  testOperators(() => opened)
  testSealed(() => opened)
  testFerryhook(() => opened)
  testFormBridge(() => opened)
  testTwoKey(() => opened)

  test('may do what they do, and nothing else', async () => {
    expect(deniedCalls(deployment.calls())).toEqual([])
    expect(unusedPermissions(deployment.calls())).toEqual([])
    const called = new Set(deployment.calls().map((call) => call.function))
    expect([...called].toSorted()).toEqual(lambdaFunctions.map(({ name }) => name).toSorted())
  })

  test('have no native library in their bundles, and one copy of each package', () => {
    for (const [name, inputs] of deployment.inputs) {
      const packages = inputs.flatMap(
        (input) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1] ?? [],
      )
      const found = [...new Set(packages)]
      const names = found.map((path) => path.slice(path.lastIndexOf('node_modules/')))
      expect(
        names.filter((each) => /lmdb|msgpackr/.test(each)),
        name,
      ).toEqual([])
      const sdk = names.filter((each) => each.includes('@aws-sdk/') || each.includes('@smithy/'))
      expect(sdk.length, name).toBe(new Set(sdk).size)
    }
  })
})
