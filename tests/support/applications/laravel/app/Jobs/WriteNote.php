<?php
// A job that takes as long as it is told, and then writes into the database.

namespace App\Jobs;

use App\Models\Note;
use Illuminate\Bus\Queueable;
use Illuminate\Contracts\Queue\ShouldQueue;
use Illuminate\Foundation\Bus\Dispatchable;
use Illuminate\Queue\InteractsWithQueue;
use Illuminate\Queue\SerializesModels;

class WriteNote implements ShouldQueue
{
    use Dispatchable, InteractsWithQueue, Queueable, SerializesModels;

    public $text;

    public $seconds;

    public function __construct(string $text, int $seconds)
    {
        $this->text = $text;
        $this->seconds = $seconds;
    }

    public function handle()
    {
        Note::create(['text' => "{$this->text} begun"]);
        // A signal ends a pause.
        for ($end = time() + $this->seconds; time() < $end;) {
            sleep(1);
        }
        Note::create(['text' => "{$this->text} done"]);
    }
}
