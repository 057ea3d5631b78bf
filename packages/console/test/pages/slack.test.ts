import { createFakeSlack } from '@strongroom/two-key/fake-slack/fake-slack'
import { sampleClient, sampleTeam } from '@strongroom/two-key/fake-slack/fixtures'
import { fakeRequest } from '@strongroom/two-key/fake-slack/requests'
import { serveFakeSlack } from '@strongroom/two-key/fake-slack/server'
import { expect, test } from 'vitest'
import { describeConsole, pageProblems, takeShots } from '../support/browser.ts'

const SECRET = 'a-signing-secret-of-slack'
const slack = await serveFakeSlack(createFakeSlack(), 0)

describeConsole(
  'the page of Two-key',
  (site) => {
    /** A request as Slack sends it; the app behind Two-key does not respond, which is not the point. */
    async function sendCommand(
      app: string,
      given: { user?: string; channel?: string; signingSecret?: string } = {},
    ) {
      const { headers, body } = fakeRequest('command', {
        signingSecret: SECRET,
        nowMs: site.clock.now(),
        ...given,
      })
      await fetch(`${site.origin}/two-key/slack/${app}/events`, { method: 'POST', headers, body })
    }

    test('adds an app, sets a token and shows decisions as they happen', async () => {
      const page = await site.asOperator()
      await site.open(page, '/server/slack')
      await page.getByText('No Slack apps').waitFor()
      expect(await pageProblems(page)).toEqual([])
      await takeShots(page, 'slack-empty')
      await page.setViewportSize({ width: 1280, height: 800 })

      await page.getByRole('button', { name: 'Add app' }).first().click()
      await page.getByLabel('Name').fill('deploy-bot')
      await page.getByLabel('Upstream').fill('http://127.0.0.1:8080/')
      await page.getByLabel('Signing secret').fill(SECRET)
      await page.getByRole('dialog').getByRole('button', { name: 'Add app' }).click()
      await page.waitForURL('**/server/slack/deploy-bot')
      await page.getByText('No decisions yet').waitFor()

      await page.getByRole('button', { name: 'Set token…' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Team').fill(sampleTeam.id)
      await dialog.getByLabel('Bot token').fill('xoxb-wrong-000000')
      await dialog.getByRole('button', { name: 'Set token' }).click()
      await dialog.getByText('Slack rejected this token').waitFor()
      await dialog.getByLabel('Bot token').fill(sampleTeam.token)
      await dialog.getByRole('button', { name: 'Set token' }).click()
      await page.getByRole('button', { name: `Delete the token of ${sampleTeam.id}` }).waitFor()
      expect(await page.content()).not.toContain(sampleTeam.token)

      await sendCommand('deploy-bot')
      await sendCommand('deploy-bot', { signingSecret: 'another-secret' })
      await sendCommand('deploy-bot', { user: 'U0INVENTED' })
      await sendCommand('deploy-bot', { channel: 'G0000HIDE' })
      await page.getByText('Slack does not know the user').waitFor()
      await page.getByText('Verified by Slack').waitFor()
      await page.getByText('Signed with another secret').waitFor()
      await page.getByText('Channel unseen').waitFor()
      await page.getByText('user_not_found').waitFor()
      expect(await page.getByRole('cell', { name: 'slash_command' }).count()).toBe(3)
      expect(await pageProblems(page)).toEqual([])
      await takeShots(page, 'slack')
      await page.setViewportSize({ width: 1280, height: 800 })

      await page.getByRole('button', { name: 'Refused', exact: true }).click()
      await page.waitForURL('**/deploy-bot?outcome=refused')
      await page.getByText('Verified by Slack').waitFor({ state: 'hidden' })
      await page.reload()
      await page.getByText('Signed with another secret').waitFor()
      await page.keyboard.press('l')
      await page.getByText('Paused').waitFor()
    })

    test('rotates the signing secret: the old one ends unless it is kept', async () => {
      const page = await site.asOperator()
      await site.open(page, '/server/slack/deploy-bot')
      await page.getByRole('button', { name: 'Rotate secret…' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByText('strongroom slack secret rotate deploy-bot', { exact: true }).waitFor()
      await dialog.getByLabel('New signing secret').fill('a-new-signing-secret')
      expect(await pageProblems(page)).toEqual([])
      await takeShots(page, 'slack-rotate')
      await page.setViewportSize({ width: 1280, height: 800 })
      await dialog.getByLabel('Keep the old secret').check()
      await dialog.getByText('--overlap 24h').waitFor()
      await dialog.getByLabel('Keep the old secret').uncheck()
      await dialog.getByRole('button', { name: 'Rotate secret' }).click()
      await page.getByText('The old one is no longer valid').waitFor()
      const before = await page.getByText('Signed with another secret').count()
      await sendCommand('deploy-bot')
      await expect
        .poll(() => page.getByText('Signed with another secret').count(), { timeout: 10_000 })
        .toBe(before + 1)
    })

    test('sets up the installation, and a person adds the app to a workspace', async () => {
      const page = await site.asOperator()
      await site.open(page, '/server/slack/deploy-bot')
      await page.getByRole('button', { name: `Delete the token of ${sampleTeam.id}` }).click()
      await page.getByRole('button', { name: 'Delete token' }).click()
      await page.getByText('No workspace has a bot token').waitFor()
      await page.getByRole('button', { name: 'Set up…' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Client id').fill(sampleClient.id)
      await dialog.getByLabel('Client secret').fill(sampleClient.secret)
      await dialog.getByLabel('Bot scopes').fill('chat:write, commands')
      expect(await pageProblems(page)).toEqual([])
      await takeShots(page, 'slack-installation-dialog')
      await page.setViewportSize({ width: 1280, height: 800 })
      await dialog.getByRole('button', { name: 'Save' }).click()
      const link = page.getByRole('link', { name: 'Add to Slack' })
      await link.waitFor()
      expect(await page.content()).not.toContain(sampleClient.secret)
      expect(await pageProblems(page)).toEqual([])
      await page.getByRole('heading', { name: 'Installation' }).scrollIntoViewIfNeeded()
      await takeShots(page, 'slack-installation')
      await page.setViewportSize({ width: 1280, height: 800 })

      const [added] = await Promise.all([page.waitForEvent('popup'), link.click()])
      await added.getByRole('heading', { name: 'The app is installed' }).waitFor()
      await added.getByText(`Workspace ${sampleTeam.id}`).waitFor()
      await takeShots(added, 'slack-installed')
      await added.reload()
      await added.getByText('not started in this browser').waitFor()
      await added.close()
      await page.reload()
      await page.getByRole('button', { name: `Delete the token of ${sampleTeam.id}` }).waitFor()
    })

    test('deletes a token and an app after saying what follows', async () => {
      const page = await site.asOperator()
      await site.open(page, '/server/slack/deploy-bot')
      await page.getByRole('button', { name: `Delete the token of ${sampleTeam.id}` }).click()
      await page.getByText('Requests of this workspace are refused').waitFor()
      await page.getByRole('button', { name: 'Delete token' }).click()
      await page.getByText('No workspace has a bot token').waitFor()
      await page.getByRole('button', { name: 'Delete app…' }).click()
      const dialog = page.getByRole('dialog')
      const confirm = dialog.getByRole('button', { name: 'Delete app' })
      expect(await confirm.getAttribute('aria-disabled')).toBe('true')
      expect(await pageProblems(page)).toEqual([])
      await dialog.getByRole('textbox').fill('deploy-bot')
      await confirm.click()
      await page.getByText('No Slack apps').waitFor()
    })

    test('a viewer may look, and an unknown app is not found', async () => {
      const admin = await site.addOperator('slack-admin')
      await site.api('POST', '/two-key/v1/apps', {
        token: admin,
        json: { name: 'other', signingSecret: SECRET, upstream: { url: 'http://127.0.0.1:8080/' } },
      })
      const token = await site.addOperator('slack-viewer', { role: 'viewer' })
      const page = await site.asOperator({ token })
      await site.open(page, '/server/slack/nobody')
      await page.getByText('Slack app not found').waitFor()
      const add = page.getByRole('button', { name: 'Add app' })
      expect(await add.getAttribute('aria-disabled')).toBe('true')
      expect(await pageProblems(page)).toEqual([])
    })
  },
  {
    TWO_KEY_SLACK_API_URL: slack.url,
    TWO_KEY_ALLOWED_NETWORKS: '127.0.0.0/8',
    TWO_KEY_ALLOW_HTTP: 'true',
  },
)
