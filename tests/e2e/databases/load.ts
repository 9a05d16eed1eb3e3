// A load on a MySQL like `sysbench oltp_read_write`: each transaction reads points and ranges and writes a few rows.
import { createPool, type PoolConnection, type PoolOptions } from "mysql2/promise";
import { MYSQL_CONNECT_TIMEOUT_MS } from "../../support/pilvi/databases.ts";

const ROWS = 1_000;

/** Runs so many transactions in each of the sessions and returns how many were committed. */
export async function mysqlLoad(
  login: PoolOptions,
  { sessions, transactions }: { sessions: number; transactions: number },
): Promise<number> {
  const pool = createPool({
    ...login,
    connectionLimit: sessions,
    connectTimeout: MYSQL_CONNECT_TIMEOUT_MS,
  });
  try {
    await pool.query("create table sbtest (id int primary key auto_increment, k int, c text, key (k))");
    const rows = Array.from({ length: ROWS }, (_, index) => [index + 1, index, `row ${index}`]);
    await pool.query("insert into sbtest values ?", [rows]);
    const counts = await Promise.all(
      Array.from({ length: sessions }, async (_, number) => {
        const connection = await pool.getConnection();
        for (let turn = 0; turn < transactions; turn++)
          await transact(connection, number * transactions + turn);
        connection.release();
        return transactions;
      }),
    );
    return counts.reduce((sum, count) => sum + count, 0);
  } finally {
    await pool.end();
  }
}

/** No two turns write the same row, so no deadlock is possible. */
async function transact(connection: PoolConnection, turn: number): Promise<void> {
  const id = (turn * 7) % ROWS || ROWS;
  await connection.beginTransaction();
  for (let point = 0; point < 5; point++)
    await connection.execute("select c from sbtest where id = ?", [(id + point * 31) % ROWS]);
  await connection.execute("select sum(k) from sbtest where id between ? and ?", [id, id + 99]);
  await connection.execute("select distinct c from sbtest where id between ? and ? order by c", [
    id,
    id + 99,
  ]);
  await connection.execute("update sbtest set k = k + 1 where id = ?", [id]);
  await connection.execute("delete from sbtest where id = ?", [id]);
  await connection.execute("insert into sbtest values (?, ?, ?)", [id, turn, `row ${turn}`]);
  await connection.commit();
}
