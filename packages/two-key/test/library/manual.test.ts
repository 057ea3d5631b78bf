import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createFakeSlack } from '../../src/fake-slack/fake-slack.ts'
import { serveFakeSlack } from '../../src/fake-slack/server.ts'
import { sampleTeam } from '../../src/fake-slack/fixtures.ts'
import { command } from '../support/samples.ts'
import { official, signedForm } from '../support/signed.ts'
import { outsideApp, root, runUntil } from '../support/outside-app.ts'

const manual = readFileSync(join(root, 'docs/two-key.md'), 'utf8')
const [, lines = ''] = /<!-- app: bolt -->\n\n```ts\n(.*?)```\n/s.exec(manual) ?? []
const examples = [...manual.matchAll(/<!-- types -->\n\n```ts\n(.*?)```\n/gs)].map(
  ([, text = '']) => text,
)

const commonJs = `
const { App } = require('@slack/bolt')
const { existenceCheck } = require('@strongroom/two-key')
const { SLACK_BOT_TOKEN: token, SLACK_SIGNING_SECRET: signingSecret } = process.env
const app = new App({ token, signingSecret })
app.use(existenceCheck())
app.command('/deploy', async ({ ack, command }) => ack('Deploying ' + command.text))
app.start(0)
`

const typed = `${lines}
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { createExistenceChecker, type Decision, twoKey, verifySlackRequest } from '@strongroom/two-key'
import { dynamoCache } from '@strongroom/two-key/dynamo-cache'

const cache = dynamoCache({ client: new DynamoDBClient({}) })
const checker = createExistenceChecker({ tokenOf: async () => token, cache })
const keys = twoKey({ signingSecret: 'secret', checker })
export const decision: Decision = await verifySlackRequest({ rawBody: new Uint8Array(), headers: {} }, keys)
// @ts-expect-error: it is typed
twoKey({ signingSecret: 5, checker })
`

describe('the app that the manual shows', () => {
  test.each([
    ['as it stands', 'app.mjs', lines],
    ['as CommonJS', 'app.cjs', commonJs],
  ])('runs with the built library in plain Node, %s', async (_, name, text) => {
    expect(text).toContain('existenceCheck()')
    const slack = createFakeSlack()
    const server = await serveFakeSlack(slack, 0)
    onTestFinished(() => server.close())
    const directory = await outsideApp({ [name]: text }, { types: false })
    const port = await runUntil(directory, ['--import', './preload.mjs', name], /PORT (\d+)/, {
      FAKE_SLACK: server.url,
      SLACK_BOT_TOKEN: sampleTeam.token,
      SLACK_SIGNING_SECRET: official.secret,
      PORT: '0',
    })
    const send = async (user_id: string) => {
      const timestamp = Math.floor(Date.now() / 1000)
      const { rawBody: body, headers } = signedForm({ ...command, user_id }, { timestamp })
      const url = `http://127.0.0.1:${port}/slack/events`
      const response = await fetch(url, { method: 'POST', headers, body })
      return [response.status, await response.text()]
    }
    expect(await send('U00000001')).toEqual([200, 'Deploying café to production'])
    expect(await send('U0INVENTED')).toEqual([200, ''])
    slack.break({ kind: 'status', status: 500 })
    expect(await send('U00000002')).toEqual([200, expect.stringContaining('Try again')])
  })

  test.runIf(process.env['SLOW'])(
    'type-checks with all examples of the manual, also without skipLibCheck',
    async () => {
      const options = { module: 'nodenext', target: 'es2023', types: ['node'] }
      const compilerOptions = { ...options, strict: true, noEmit: true, skipLibCheck: false }
      expect(examples).toHaveLength(5)
      const shown = examples.map((text, at) => [`example-${at}.mts`, text])
      const files = { 'app.mts': typed, ...Object.fromEntries(shown) }
      const project = JSON.stringify({ compilerOptions, files: Object.keys(files) })
      const directory = await outsideApp({ ...files, 'tsconfig.json': project }, { types: true })
      const tsc = join(root, 'node_modules/typescript/bin/tsc')
      const checked = await promisify(execFile)(process.execPath, [tsc, '-p', directory])
      expect(checked.stdout).toBe('')
    },
  )
})
