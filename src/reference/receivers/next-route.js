import { receive } from './receive.js'

export const runtime = 'nodejs'

export async function POST(request) {
  const body = new Uint8Array(await request.arrayBuffer())
  const status = receive(body, request.headers.get('X-Service-Signature'))
  return new Response(null, { status })
}
