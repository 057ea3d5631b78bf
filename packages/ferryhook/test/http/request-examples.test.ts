import { openApiDocument } from '@strongroom/kit/http/openapi'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { openApi } from '../support/test-api.ts'

/** The part of the document that matters here. */
interface Operation {
  requestBody?: { content: Record<string, { schema: { example?: unknown } }> }
}

const type = 'application/json'

describe.each(serviceStores())('the API reference on $name', (store) => {
  const api = openApi(store)

  test('the example of every request body is valid', () => {
    const document = openApiDocument(api.app, { title: 'Ferryhook', version: '1' })
    const paths = document.paths as Record<string, Record<string, Operation>>
    const bodies = api.app.openAPIRegistry.definitions.flatMap((definition) => {
      if (definition.type !== 'route') return []
      const { method, path, request } = definition.route
      const media = request?.body?.content[type]
      if (!media || !('schema' in media) || !(media.schema instanceof z.ZodType)) return []
      const example = paths[path]?.[method]?.requestBody?.content[type]?.schema.example
      return [{ route: `${method} ${path}`, schema: media.schema, example }]
    })
    expect(bodies).not.toEqual([])
    const refused = bodies.flatMap(({ route, schema, example }) => {
      const { error } = schema.safeParse(example)
      return error ? [`${route}: ${z.prettifyError(error)}`] : []
    })
    expect(refused).toEqual([])
  })
})
