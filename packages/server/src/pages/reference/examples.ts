/**
 * Real requests and responses in the OpenAPI document and on the reference pages. `examples.test.ts` makes
 * each call against a server, and writes what it sent and got.
 */
import recorded from './examples.json' with { type: 'json' }

interface Example {
  request?: unknown
  status: number
  response?: unknown
}

interface Media {
  content?: Record<string, { example?: unknown } | undefined>
}

interface Operation {
  requestBody?: Media
  responses?: Record<string, Media | undefined>
}

/** Adds the example of each operation that has one. */
export function addExamples<Document extends { paths?: object | undefined }>(
  document: Document,
): Document {
  const paths = document.paths as Record<string, Record<string, Operation> | undefined> | undefined
  for (const [name, example] of Object.entries(recorded as Record<string, Example>)) {
    const [method = '', path = ''] = name.split(' ')
    const operation = paths?.[path]?.[method.toLowerCase()]
    if (!operation) continue
    setExample(operation.requestBody, example.request)
    setExample(operation.responses?.[example.status], example.response)
  }
  return document
}

function setExample(media: Media | undefined, value: unknown): void {
  const json = media?.content?.['application/json']
  if (json && value !== undefined) json.example = value
}
