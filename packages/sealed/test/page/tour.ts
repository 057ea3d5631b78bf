/** Visits every view of the page in every state that looks different. */
import type { Page, Route } from 'playwright-core'
import type { Site } from './browser.ts'
import { sealInNode } from './node-client.ts'
import { expectText, expectTitle, hold, open, passphraseField, press } from './steps.ts'

export async function tour(page: Page, site: Site, look: (view: string) => Promise<void>) {
  page.on('dialog', (dialog) => void dialog.accept())
  await page.goto(site.base)
  await look('create')
  await press(page, 'Seal it')
  await page.getByRole('radio', { name: 'Other…' }).check()
  await page.getByRole('switch', { name: 'Passphrase' }).check()
  await page.getByRole('switch', { name: 'Receipt' }).check()
  await look('create, with everything open')
  await page.getByLabel('Your secret').fill('x'.repeat(200))
  await press(page, 'Suggest one')
  const passphrase = await passphraseField(page).inputValue()
  await page.locator('input[type=file]').setInputFiles({
    name: `${'long-name-'.repeat(20)}.p12`,
    mimeType: '',
    buffer: Buffer.from('x'),
  })
  await look('create, with a file')
  await press(page, 'Remove')
  const release = await holdUp(page, '**/v1/token')
  await press(page, 'Seal it')
  await expectText(page, 'Encrypting…')
  await look('sealing')
  release()

  await expectTitle(page, 'Sealed.')
  const link = await page.getByLabel('Link to send').inputValue()
  for (const summary of await page.locator('summary').all()) await summary.click()
  const management = await page.getByRole('textbox', { name: 'Management link' }).inputValue()
  await press(page, 'Destroy it now')
  await look('sealed, with everything open')

  await page.goto(link)
  await look('open')
  await passphraseField(page).fill('wrong')
  await hold(page)
  await page.getByText('Wrong passphrase').waitFor()
  await look('open, after a wrong passphrase')
  await passphraseField(page).fill(passphrase)
  await press(page, 'Open in two steps instead')
  await look('open, asked')
  const answer = await holdUp(page, '**/reveal')
  await press(page, 'Not yet')
  await hold(page)
  await expectText(page, 'Opening…')
  await look('opening')
  answer()
  await expectTitle(page, 'Here it is.')
  await look('shown')
  await press(page, 'Hide')
  await expectTitle(page, 'Hidden.')
  await look('hidden')

  await page.goto(management)
  await page.getByText('Opened on').first().waitFor()
  await look('manage')
  await press(page, 'Destroy it now')
  await press(page, 'Destroy')
  await expectTitle(page, 'Destroyed.')
  await look('destroyed')

  const file = { name: 'server.p12', mediaType: '', bytes: new Uint8Array(2048) }
  await open(page, (await sealInNode(site.base, file)).link)
  await expectTitle(page, 'Here it is.')
  await look('shown, a file')

  await page.locator('#home').click()
  await press(page, 'Ask someone for a secret')
  await look('request')
  await press(page, 'Create the request')
  await expectTitle(page, 'Request created.')
  await page.locator('summary').click()
  await look('request created')
  const requestLink = await page.getByLabel('Link to send').inputValue()
  const ownLink = await page.getByLabel('Your own link').inputValue()
  await page.goto(ownLink)
  await expectTitle(page, 'Your request.')
  await hold(page)
  await page.getByText('Not filled in yet').waitFor()
  await look('own link, not filled in yet')
  await page.goto(requestLink)
  await expectTitle(page, 'Someone asks you for a secret.')
  await press(page, 'Send it')
  await look('fill, with an error')
  await page.getByLabel('Your secret').fill('x')
  await press(page, 'Send it')
  await expectTitle(page, 'Sent.')
  await look('sent')
  await page.goto(requestLink)
  await page.getByLabel('Your secret').fill('x')
  await press(page, 'Send it')
  await page.getByText('Already used, or withdrawn').waitFor()
  await look('fill, already used')

  const { link: whole } = await sealInNode(site.base, 'text')
  await page.goto(whole.replace(/:[^:]*$/, ''))
  await press(page, 'Open in two steps instead')
  await look('open, without the key')
  await page.goto(whole.slice(0, -1))
  await expectTitle(page, 'This link is incomplete.')
  await look('not complete')
  await page.goto(whole.replace('#', '%23'))
  await expectTitle(page, 'This link was damaged on its way.')
  await look('damaged on its way')
  await page.goto(site.base)
  await page.getByLabel('Your secret').fill('draft')
  await page.evaluate((address) => location.assign(address), whole)
  await expectTitle(page, 'Someone sent you a secret.')
  await look('open, over a draft')
}

/** Keeps the next request waiting until the returned function is called. */
async function holdUp(page: Page, address: string): Promise<() => void> {
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const wait = async (route: Route) => {
    await released
    await route.continue()
  }
  await page.route(address, wait, { times: 1 })
  return release
}
