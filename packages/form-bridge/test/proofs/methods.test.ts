import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { createTestService } from '../support/test-service.ts'
import { end } from '../support/wordpress-host.ts'

describe.each(serviceStores())('the proof by a meta tag on $name', (store) => {
  const service = createTestService(store)

  test('is read only from the head, where visitors cannot write', async () => {
    const wordpress = service.host.site()
    const { body } = await service.register(wordpress)
    const { name, content } = body.proofs.meta
    const tag = `<meta name='${name}' content='${content}'>`
    const heads = [
      `<!-- ${tag} -->`,
      `<!-- ${tag}`,
      `<title>${tag}</title>`,
      `<script>const title = "${tag}"</script>`,
      `<meta name="description" content="${tag}">`,
      `<meta property="og:title" content="${content}' name='${name}'">`,
    ]
    for (const html of [`<head></head><body>${tag}</body>`, ...heads.map((h) => `<head>${h}`)]) {
      wordpress.handlers.set('/', (_, response) => end(response, 200, html))
      const response = await service.exchange(wordpress, { methods: ['meta'] })
      expect(response.body.error.data.attempts).toMatchObject([{ result: 'not_published' }])
    }
  })
})
