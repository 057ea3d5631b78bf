/**
 * A JSON document that is parsed only along the paths in use; the rest stays text. Objects become
 * maps, so `__proto__` is a name like any other.
 */
import { indexIn, type Step, wildcard } from '../filters/path.ts'
import { elementsOf, membersOf } from './json-text.ts'

/** `unparsed` is the JSON text of a value. */
type Content = { unparsed: string } | Map<string, JsonNode> | JsonNode[]

export interface JsonNode {
  content: Content
}

/** `text` must be valid JSON. */
export function unparsedNode(text: string): JsonNode {
  return { content: { unparsed: text.trim() } }
}

/** Recurses into parsed nodes only, so at most `MAX_PATH_STEPS` deep. */
export function toJson({ content }: JsonNode): string {
  if (content instanceof Map) {
    const members = [...content].map(([name, node]) => `${JSON.stringify(name)}:${toJson(node)}`)
    return `{${members.join(',')}}`
  }
  return Array.isArray(content) ? `[${content.map(toJson).join(',')}]` : content.unparsed
}

export function findNodes(root: JsonNode, steps: readonly Step[]): JsonNode[] {
  let found = [root]
  for (const step of steps) found = found.flatMap((node) => childrenAt(node, step))
  return found
}

/** Creates missing containers on the way, and replaces values that are not containers. */
export function putAt(root: JsonNode, steps: readonly (string | number)[], text: string): void {
  let node = root
  for (const step of steps)
    node = typeof step === 'number' ? element(node, step) : member(node, step)
  node.content = unparsedNode(text).content
}

/** Removes nothing if `steps` is empty: there is always a document. */
export function removeAt(root: JsonNode, steps: readonly Step[]): void {
  const last = steps.at(-1)
  if (last === undefined) return
  for (const { content } of findNodes(root, steps.slice(0, -1)).map(parseNode)) {
    if (content instanceof Map) {
      if (last === wildcard) content.clear()
      else content.delete(String(last))
    } else if (Array.isArray(content)) {
      if (last === wildcard) content.length = 0
      else {
        const index = indexIn(content, last)
        if (index !== undefined) content.splice(index, 1)
      }
    }
  }
}

function childrenAt(node: JsonNode, step: Step): JsonNode[] {
  const { content } = parseNode(node)
  if (content instanceof Map) {
    if (step === wildcard) return [...content.values()]
    const found = content.get(String(step))
    return found ? [found] : []
  }
  if (!Array.isArray(content)) return []
  if (step === wildcard) return content
  const index = indexIn(content, step)
  const found = index === undefined ? undefined : content[index]
  return found ? [found] : []
}

function member(node: JsonNode, name: string): JsonNode {
  const { content } = parseNode(node)
  const members = content instanceof Map ? content : new Map<string, JsonNode>()
  node.content = members
  const found = members.get(name) ?? unparsedNode('null')
  members.set(name, found)
  return found
}

function element(node: JsonNode, index: number): JsonNode {
  const { content } = parseNode(node)
  const elements = Array.isArray(content) ? content : []
  node.content = elements
  while (elements.length <= index) elements.push(unparsedNode('null'))
  return elements[index] ?? unparsedNode('null')
}

/** Parses one level, unless the node is a scalar or already parsed. */
function parseNode(node: JsonNode): JsonNode {
  const { content } = node
  if (!('unparsed' in content)) return node
  const members = membersOf(content.unparsed)
  const inside = members
    ? new Map([...members].map(([name, text]) => [name, unparsedNode(text)] as const))
    : elementsOf(content.unparsed)?.map(unparsedNode)
  if (inside) node.content = inside
  return node
}
