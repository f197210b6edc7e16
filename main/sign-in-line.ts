/** How long a code may take. Milliseconds. */
const DEADLINE_MS = 10_000;

/** The line that tells how to sign a browser in: with a code for the tenant's key, or with the reason why there is none. */
export async function signInLine(adminUrl: string, token: string, tenantId: number | string): Promise<string> {
  try {
    const response = await fetch(`${adminUrl}/admin/tenants/${String(tenantId)}/session-codes`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'X-Logweir-Client': 'npm start' },
      signal: AbortSignal.timeout(DEADLINE_MS),
    });
    const { url, detail } = (await response.json()) as { url?: string; detail?: string };
    if (url === undefined) throw new Error(detail ?? `status ${String(response.status)}`);
    return `sign in within 5 minutes, once: ${url} (another one: npx logweir admin session code)`;
  } catch (error) {
    return `no code to sign in was made (${error instanceof Error ? error.message : String(error)}): npx logweir admin session code`;
  }
}
