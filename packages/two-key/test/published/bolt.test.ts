/** The published library beside every major version of Bolt that it supports. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  compile,
  installProject,
  packagesRequired,
  type Project,
  readmeExamples,
  sameVersion,
  tarball,
} from '@strongroom/kit/testing/published'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createFakeSlack } from '../../src/fake-slack/fake-slack.ts'
import { sampleTeam } from '../../src/fake-slack/fixtures.ts'
import { serveFakeSlack } from '../../src/fake-slack/server.ts'
import { PRELOAD, runUntil } from '../support/outside-app.ts'
import { command } from '../support/samples.ts'
import { FORM, official, signed } from '../support/signed.ts'

const MAX_INSTALL_MS = 300_000

describe.runIf(packagesRequired).each([3, 4, 5])('beside Bolt %i', (major) => {
  let project: Project

  beforeAll(async () => {
    const packages = [tarball('@strongroom/two-key'), `@slack/bolt@${major}`]
    project = await installProject([...packages, sameVersion('@types/node')])
  }, MAX_INSTALL_MS)

  afterAll(() => project.remove())

  test('npm installs it without forcing anything', () => {
    const manifest = join(project.directory, 'node_modules/@slack/bolt/package.json')
    const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }
    expect(version).toMatch(new RegExp(`^${major}\\.`))
  })

  test.each(['bolt.mjs', 'bolt.cjs'])(
    'the app %s of the README accepts a real user and drops an invented one',
    async (file) => {
      const example = (await readmeExamples('two-key')).find((each) => each.file === file)
      const slack = await serveFakeSlack(createFakeSlack(), 0)
      onTestFinished(() => slack.close())
      const files = { 'preload.mjs': PRELOAD, [file]: example?.text ?? '' }
      // Only writes the files.
      const { stdout: cwd } = await project.run(['-p', 'process.cwd()'], { files })
      const port = await runUntil(cwd.trim(), ['--import', './preload.mjs', file], /PORT (\d+)/, {
        FAKE_SLACK: slack.url,
        SLACK_BOT_TOKEN: sampleTeam.token,
        SLACK_SIGNING_SECRET: official.secret,
        PORT: '0',
        AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
      })
      const send = async (user_id: string, secret = official.secret) => {
        const timestamp = Math.floor(Date.now() / 1000)
        const form = new URLSearchParams({ ...command, user_id }).toString()
        const { rawBody: body, headers } = signed(form, { timestamp, secret, contentType: FORM })
        const url = `http://127.0.0.1:${port}/slack/events`
        const response = await fetch(url, { method: 'POST', headers, body })
        return [response.status, await response.text()]
      }
      expect(await send('U00000001')).toEqual([200, 'Deploying café to production'])
      expect(await send('U0INVENTED')).toEqual([200, ''])
      expect((await send('U00000001', 'another secret'))[0]).toBe(401)
    },
  )

  test("compiles strictly with Bolt's types and without Hono", async () => {
    const example = (await readmeExamples('two-key')).find(({ file }) => file === 'bolt.mjs')
    expect(await compile(project, { 'bolt.mts': example?.text ?? '' })).toBe('')
  })
})
