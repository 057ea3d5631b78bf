import { expect, onTestFinished, test } from 'vitest'
import { describeInBrowser, SLOW } from './browser.ts'
import { isAvailable, openInNode, sealInNode, wrongProofs } from './node-client.ts'
import { startPageServer } from './page-server.ts'
import {
  expectText,
  expectTitle,
  hold,
  open,
  passphraseField,
  press,
  seal,
  shownSecret,
} from './steps.ts'

const TEXT = '  spaces at both ends,\ttabs,\n\nempty lines, “quotes”, 日本語 and 🔑\n'

describeInBrowser('handing over a secret', (site) => {
  test('one person seals a text and another opens it unchanged, after which nobody can', async () => {
    const sender = await site.visitor()
    await sender.goto(site.base)
    const { link } = await seal(sender, TEXT)
    const reader = await site.visitor()
    await open(reader, link)
    expect(await shownSecret(reader)).toBe(TEXT)
    await expectText(reader, 'Nobody else can open it now.')
    expect(await isAvailable(link)).toBe(false)
  })

  test('a wrong passphrase uses a try but no view', async () => {
    const sender = await site.visitor()
    await sender.goto(site.base)
    const { link } = await seal(sender, TEXT, { passphrase: 'two words' })
    const reader = await site.visitor()
    await open(reader, link, 'two worlds')
    await expectText(reader, 'Wrong passphrase. 9 tries are left.')
    expect(await passphraseField(reader).evaluate((field) => field.matches(':focus'))).toBe(true)
    await passphraseField(reader).fill('two words')
    await hold(reader)
    expect(await shownSecret(reader)).toBe(TEXT)
  })

  test.runIf(SLOW)('the last wrong passphrase destroys the secret and says so', async () => {
    const { link } = await sealInNode(site.base, TEXT, { passphrase: 'right' })
    await wrongProofs(link, 9)
    const reader = await site.visitor()
    await open(reader, link, 'wrong')
    await expectText(
      reader,
      'That was the last try. The secret has been destroyed. Ask the sender for a new link.',
    )
  })

  test.runIf(SLOW)('a secret can be opened as often as its views allow', async () => {
    const { link } = await sealInNode(site.base, TEXT, { views: 2 })
    const reader = await site.visitor()
    await open(reader, link)
    await expectText(reader, 'It can be opened once more.')
    expect(await isAvailable(link)).toBe(true)
    expect(await isAvailable(link)).toBe(false)
  })

  test.runIf(SLOW)('a link without its key asks for the complete key', async () => {
    const { link } = await sealInNode(site.base, TEXT)
    const [address = '', key = ''] = link.split(/:(?=[^:]*$)/)
    const reader = await site.visitor()
    await reader.goto(address)
    const field = reader.getByLabel('Key', { exact: true })
    await field.fill(key.slice(0, -1))
    await press(reader, 'Open in two steps instead')
    await expectText(
      reader,
      'The key is incomplete. Copy it again, from the first to the last character.',
    )
    await field.fill(` ${key} `)
    await hold(reader)
    expect(await shownSecret(reader)).toBe(TEXT)
  })

  test.runIf(SLOW)('a link and a key that were sent separately open the secret', async () => {
    const sender = await site.visitor()
    await sender.goto(site.base)
    const { link } = await seal(sender, TEXT)
    await sender.locator('summary', { hasText: 'Link and key separately' }).click()
    const address = await sender.getByLabel('Link without key').inputValue()
    const key = await sender.getByLabel('Key', { exact: true }).inputValue()
    expect(`${address}:${key}`).toBe(link)
  })

  test('nobody can open a secret after its sender destroyed it', async () => {
    const sender = await site.visitor()
    await sender.goto(site.base)
    const { link } = await seal(sender, TEXT)
    await press(sender, 'Destroy it now')
    await press(sender, 'Destroy')
    await expectTitle(sender, 'Destroyed.')
    expect(await isAvailable(link)).toBe(false)
  })

  test('the management link shows whether the secret was opened and can destroy it', async () => {
    const { link, management } = await sealInNode(site.base, TEXT, { receipt: true, views: 2 })
    const manager = await site.visitor()
    await manager.goto(management)
    await expectText(manager, 'Not opened yet')
    expect(manager.url()).toBe(site.base)
    await openInNode(link)
    await press(manager, 'Check again')
    await expectText(manager, 'Opened 1 of 2 times, last on 1 January 2100 at 00:00')
    await press(manager, 'Destroy it now')
    await press(manager, 'Destroy')
    await expectTitle(manager, 'Destroyed.')
    expect(await isAvailable(link)).toBe(false)
  })

  test.runIf(SLOW)(
    'the management link of a secret without a receipt shows no receipt',
    async () => {
      const { management } = await sealInNode(site.base, TEXT)
      const manager = await site.visitor()
      await manager.goto(management)
      await expectText(manager, 'No receipt. It was not requested, or it has expired.')
    },
  )

  test.runIf(SLOW)(
    'the page opens a secret that the CLI sealed, however the passphrase is composed',
    async () => {
      const { link } = await sealInNode(site.base, TEXT, { passphrase: 'größe' })
      const reader = await site.visitor()
      // As another keyboard writes it, in more code points.
      await open(reader, link, 'größe'.normalize('NFD'))
      expect(await shownSecret(reader)).toBe(TEXT)
    },
  )

  test.runIf(SLOW)('the CLI opens a secret that the page sealed', async () => {
    const sender = await site.visitor()
    await sender.goto(site.base)
    const { link } = await seal(sender, TEXT, { passphrase: 'größe' })
    expect(await openInNode(link, 'größe')).toBe(TEXT)
  })

  test.runIf(SLOW)('expired, opened and missing secrets look the same', async () => {
    const expired = await sealInNode(site.base, TEXT)
    site.clock.advance({ hours: 1 })
    const opened = await sealInNode(site.base, TEXT)
    await openInNode(opened.link)
    const never = opened.link.replace(/#.{22}/, `#${'A'.repeat(22)}`)
    const reader = await site.visitor()
    const seen = new Set<string>()
    for (const link of [expired.link, opened.link, never]) {
      await open(reader, link)
      await expectTitle(reader, 'Not available.')
      seen.add(await reader.locator('body').innerText())
    }
    expect(seen.size).toBe(1)
  })

  test.runIf(SLOW)('the page creates and opens secrets at the root of a server', async () => {
    const alone = await startPageServer({ at: '/' })
    onTestFinished(() => alone.close())
    const page = await site.visitor()
    await page.goto(alone.base)
    const { link } = await seal(page, TEXT)
    expect(new URL(link).pathname).toBe('/')
    await open(page, link)
    expect(await shownSecret(page)).toBe(TEXT)
  })
})
